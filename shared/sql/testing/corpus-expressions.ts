/** Operators, constructors and calls that are GoogleSQL, by the corner of the grammar that they reach into. */
export const expressions: Record<string, string> = {
  signs: `
    -1
    - -1
    - - - 1
    -(-1)
    +1
    ~a
    ~-a
    -~+a
    1 - -1
    1 - - -1
    -a.b
    -a[0]`,
  arithmetic: `
    1 + 2 * 3
    (1 + 2) * 3
    a - b - c
    a - (b - c)
    a / b * c
    a || b || c
    'a' || "b"
    a << 1 >> 2
    a >> 1
    a > b
    1 | 2 ^ 3 & 4 << 5 + 6
    (1 | 2) & 3
    a&b|c^d`,
  comparisons: `
    a = b
    a != b
    a <> b
    a<b
    a<=b
    a>=b
    (a = b) = c
    a = b and c = d
    a <-1
    a like '%b'
    a not like b || '%'
    a is null
    a is not null
    a is true
    a is not false
    a is unknown
    (a is null) is true
    a is distinct from b
    a is not distinct from b + 1`,
  between: `
    x between 1 and 2
    x not between a and b
    x between a and b and c
    x between a + 1 and b * 2 or d
    not x between a and b`,
  in: `
    a in (1)
    a in (1, 2, 3)
    a not in ('x', @y)
    a in (select b from t)
    a in ((select 1))
    a in ((select 1), 2)
    a in ((select 1) union all (select 2))
    a in ((1), (2))
    (a, b) in ((1, 2), (3, 4))
    a in unnest([1, 2])
    a not in unnest(@list)`,
  logic: `
    not a
    not not a
    not a = b
    not a and b
    not (a and b)
    a or b and c
    (a or b) and c
    a and not b or not c
    not exists(select 1)
    not a is null`,
  case: `
    case when a then b end
    case when a then b when c then d else e end
    case a when 1 then 'x' end
    case a + 1 when b or c then 1 else null end
    case case a when 1 then 2 end when 2 then 3 end
    case (select 1) when 1 then 2 end`,
  casts: `
    cast(a as string)
    CAST(a AS INT)
    cast(timestamp as datetime)
    safe_cast(a as float64)
    cast(a as bigint)
    cast(a as boolean)
    cast(a as numeric(10, 2))
    cast(a as string(10))
    cast(a as array<int64>)
    cast(a as struct<x int64, y string>)
    cast(a as array<struct<x int64, array<string>>>)
    cast(a as struct<array<struct<a int64>>>)
    cast(a as struct<\`select\` int64, date date>)
    cast(a as string format 'YYYY-MM')
    cast(a as string format concat('YY', @f))`,
  extract: `
    extract(day from d)
    EXTRACT(WEEK(MONDAY) FROM d)
    extract(isoyear from d + interval 1 day)
    extract(hour from t at time zone 'UTC')
    extract(date from t at time zone @zone)
    extract(dayofweek from current_date)`,
  arrays: `
    []
    [1, 2]
    [[1], [2]]
    array[1]
    array<int64>[]
    array<struct<a int64, b string>>[(1, 'a'), (2, 'b')]
    array(select x from t order by x limit 2)
    array(select as struct 1 as a, 2 as b)
    [struct(1 as a), struct(2)]`,
  structs: `
    struct(1)
    struct()
    struct(1 as a, 'x' as \`select\`, b)
    struct<int64>(1)
    struct<a int64, b array<string>>(1, ['x'])
    STRUCT<>()
    (1, 2)
    (a, (b, c))
    ((select 1), 2)`,
  'subqueries in parentheses': `
    (select 1)
    ((select 1))
    (((select 1)))
    ((select 1) + 1)
    (((select 1)) + ((select 2)))
    ((select 1) union all (select 2))
    ((select 1) union all select 2)
    ((select 1) order by 1)
    ((select 1) limit 1)
    (with a as (select 1 as x) select x from a)
    (((select 1) intersect distinct (select 1)) except all (select 2))
    exists (select 1 from t)
    exists ((select 1))
    ((a))
    ((a), (b))`,
  calls: `
    f()
    f(a, b)
    if(a, b, c)
    left(a, 1)
    right(a, 1)
    grouping(a)
    safe.substr(a, 1)
    safe.left(a, 2)
    net.host(url)
    a.b.f(x)
    \`p.d.f\`(x)
    \`if\`(a)
    date(a)
    timestamp_trunc(t, day)
    date_trunc(d, week(monday))
    timestamp(s, 'UTC')
    f(g(h(x)))
    f((select 1))
    f((a, b))`,
  'named arguments and lambdas': `
    f(a => 1)
    f(1, b => @x, c => [1])
    f(x -> x + 1)
    f(a, (x, y) -> x > y and y = 1)
    f(x -> (select x))
    f((x) -> x)
    array_filter(a, e -> e.b is not null)`,
  aggregates: `
    count(*)
    COUNT(DISTINCT a)
    string_agg(distinct a, ',' order by a desc limit 3)
    array_agg(a ignore nulls order by b asc nulls last, c desc nulls first limit @n)
    array_agg(a respect nulls)
    any_value(a having max b)
    any_value(a having min b + 1)
    countif(a > 0)
    approx_quantiles(a, 100)[offset(50)]`,
  windows: `
    row_number() over ()
    sum(a) over w
    sum(a) over (w)
    sum(a) over (w rows unbounded preceding)
    rank() over (partition by a, b order by c desc)
    sum(a) over (order by b rows between 1 preceding and current row)
    sum(a) over (order by b range between unbounded preceding and unbounded following)
    sum(a) over (rows between @n preceding and 2 following)
    first_value(a ignore nulls) over (partition by b order by c nulls last)
    count(*) over (order by a rows current row)
    safe.sum(a) over (partition by b)`,
}
