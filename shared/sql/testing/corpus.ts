/** Queries that are GoogleSQL, by subject: which the parser reads and the printer writes. */

const operands: Record<string, string> = {
  strings: String.raw`
    'a'
    "a"
    ''
    ""
    '''it's ''here'' '''
    """say "yes" """
    ''''''
    r'\d+\.\w'
    R"\n"
    r'\''
    r'''\'''a'''
    b'abc'
    B"\xff\000"
    rb'\x'
    bR"""a"b"""
    '\a\b\f\n\r\t\v\\\?\"\'\x60'
    '\x41\X42\101'
    "\u00e9\U0001F600"
    'größer 日本語 😀'
    '-- no comment'
    "/* no comment */ # none"
    'select 1; drop table t'
    '\\'`,
  numbers: `
    0
    42
    0xFF
    0X1f
    1.5
    1.
    .5
    1e10
    1E-3
    1.5e+7
    .5e1
    99999999999999999999`,
  constants: `
    null
    True
    FALSE
    @name
    @CamelCase
    @_x1`,
  'typed literals': `
    date '2026-01-31'
    TIMESTAMP "2026-01-01 00:00:00+00"
    datetime '2026-01-01T00:00:00'
    time '12:00:00'
    numeric '1.5'
    bignumeric '-1e30'
    decimal '1'
    bigdecimal '2'
    json '{"a": [1, 2]}'
    json r'{"a": "\\u0041"}'
    (json '{"a": 1}').a
    json '{"a": 1}'.a[0].select
    json '[1]'[0]
    (json '[1]')[0]`,
  intervals: `
    interval 5 day
    INTERVAL -1 MONTH
    interval @n hour
    interval (1 + 2) minute
    interval 1 + 2 second
    interval x.y week
    interval cast(@n as int64) quarter
    interval case @i when 'a' then 1 else 2 end minute
    interval '1-2' year to month
    interval '1 2:3:4.5' day to second
    timestamp '2026-01-01' - interval 1 day + interval 2 hour`,
  'names and fields': `
    a
    a.b.c
    a.select.from
    \`a\`
    \`select\`
    \`a b\`.\`c.d\`
    \`größe\`
    date
    timestamp
    offset
    value
    current_timestamp
    f(x).y
    f(x).y.select
    (a).b
    a[0].b[1].c
    @p.field
    (select as struct 1 as a).a
    struct(1 as a).a
    (case when a then b end).c`,
  subscripts: `
    [1, 2][offset(0)]
    a[ordinal(1)]
    a[SAFE_OFFSET(i + 1)]
    a.b[safe_ordinal(@n)]
    a[0]
    a['key']
    a[offset]
    a[(offset)]
    array(select 1)[0]
    split(x, ',')[offset(1)]`,
}

const expressions: Record<string, string> = {
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
    a like any ('x', b)
    a not like all unnest(b)
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
    with(a as 1, a + 1)
    f(with(a as (select 1), b as a, with(c as b, -c)))
    (with(x as [1], x))[0]
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

const relations: Record<string, string> = {
  tables: `
    t
    t as x
    t x
    d.t
    p.d.t as x
    d.select.t
    \`p.d.t\`
    \`p.d.t_*\` x
    \`p\`.d.\`t u\`
    deno-relay-logs
    deno-relay-logs as x
    my-project-1.d.t
    my-project-1.d.t x
    my_project-x-2.d.t
    information_schema.columns
    t as pivot
    t pivot`,
  arrays: `
    unnest([1, 2])
    unnest(@list) as x
    unnest(a) x with offset
    unnest(a) as x with offset as i
    unnest(a) with offset i
    t, unnest(t.a) as m, unnest(m.b) as n with offset
    t, t.a
    t, t.a.b as c with offset as o
    t cross join unnest(metadata) as metadata
    t left join unnest(t.request) as r on true
    t left join unnest(a) as r
    t inner join unnest(a) as r
    t join t.a as r
    t left join t.a as r on r.x = t.x`,
  joins: `
    a, b, c
    a join b on a.x = b.x
    a inner join b using (x, y)
    a left join b using (x)
    a left outer join b on true
    a right join b using (x)
    a right outer join b using (x)
    a full join b using (x)
    a full outer join b on a.x = b.x
    a cross join b
    a cross join b cross join c
    a, b join c on true, d
    a join b on a.x in (select y from z) join c using (x)`,
  turns: `
    t pivot (count(*) for a in ('x', 'y' as why, null))
    t as u pivot (sum(u.a) as s, min(b) m for c + 1 in (1, -2 as two)) as p
    (select 1) pivot (sum(a) for (b, c) in ((1, 'x'))) p join u on true
    t unpivot (v for k in (a, b as 'B', c.d 'C'))
    t unpivot include nulls ((v, w) for k in ((a, b) as 1, (c, d) 2)) as u
    (select 1) as s unpivot exclude nulls ((v) for k in ((a)))
    t pivot pivot (max(a) for b in (1)) pivot, u unpivot`,
  parentheses: `
    (a join b on true)
    (a cross join b) join c on true
    a join (b join c on true) on true
    a join ((b join c on true) join d on true) on true
    (select 1)
    (select 1) as x
    (select 1) x, (select 2) y
    ((select 1))
    ((select 1) union all (select 2)) as u
    ((select 1) as x join (select 2) as y on true)
    (with c as (select 1 as x) select x from c) as w
    (((select 1) as x cross join b) join c on true)`,
}

const queries: Record<string, string> = {
  'select lists': `
    select 1
    select 1,
    select 1, from t
    select a, b, from t where c
    select *
    select * from t
    select t.* from t
    select a.b.* from t
    select f(x).*
    select (a).* from t
    select a[0].* from t
    select * except (a) from t
    select * except (a, \`b c\`) replace (1 as d, e + 1 as f) from t
    select t.* replace (a as b), c from t
    select distinct a, b from t
    select all a from t
    select as struct 1 as a, 2 as b
    select as value x from t
    select distinct as struct a from t
    select count(*) as count from t order by count
    select count(*) count from t order by count desc
    select a as date, b as timestamp, c offset from t
    select 1 as \`order\`
    SELECT A aS b FROM t`,
  clauses: `
    select a from t where a and b or c
    select a from t group by a
    select a, b, count(*) from t group by 1, 2
    select a from t group by all
    select a from t group by rollup(a, b)
    select a from t group by cube(a, f(b))
    select a from t group by a having count(*) > 1
    select a from t having true
    select a from t where true qualify row_number() over (partition by a order by b) = 1
    select sum(a) over w from t window w as (partition by b)
    select sum(a) over w2 from t window w1 as (partition by b), w2 as (w1 order by c)
    select sum(a) over w2 from t window w1 as (partition by b), w2 as w1
    select a from t group by a having b qualify c window w as (order by d) order by a limit 1`,
  'order and limit': `
    select 1 order by 1
    select a from t order by a desc, b asc nulls first, c nulls last
    select a from t order by (select 1), f(b)
    select a from t limit 10
    select a from t limit 10 offset 20
    select a from t order by a limit @n offset @m
    select a from t limit 0x10`,
  'set operations': `
    select 1 union all select 2
    select 1 union distinct select 2 union distinct select 3
    select 1 intersect distinct select 2
    select 1 except distinct select 2 order by 1 limit 1
    (select 1) union all (select 2)
    (select 1 limit 1) union all select 2
    (select 1 union all select 2) except distinct select 3
    select 1 union all (select 2 intersect distinct select 3)
    ((select 1))
    ((select 1) union all (select 2)) order by 1
    (select 1) order by 1
    (select 1 order by 1) limit 1
    select 1 as a union all by name select 2 as a
    select 1 as a union all by name on (a) select 2 as a union all by name on (a) select 3 as a
    select 1 as a inner union all by name select 2 as a
    select 1 as a left union distinct by name on (a) select 2 as a
    select 1 as a left outer intersect distinct by name select 2 as a
    select a from t full outer union all by name select 2 as b from t
    select a from t left union all corresponding select 2 as a
    select a from t outer union all corresponding by (a, b) select 2 as b
    select 1 as a except distinct strict corresponding select 2 as a
    select 1 as a union all corresponding select 2 as a`,
  'common tables': `
    with a as (select 1) select * from a
    with a as (select 1), b as (select * from a) select * from b, a
    with a as (select 1) (with b as (select * from a) select * from b)
    with a as (with b as (select 1) select * from b) select * from a
    with a as ((select 1) union all (select 2)) select 1 from a
    with \`a b\` as (select 1) select * from \`a b\`
    with recursive a as (select 1 as n union all select n + 1 from a where n < 5) select n from a
    with a as (select 1) select 1 from a union all select 2 from a order by 1
    select (with a as (select 1 as x) select x from a) from t`,
  'comments and layout': `
    select 1;
    select 1 ;
    select /* a */ 1 /**/ from /* -- */ t
    select 1 -- the end
    select 1 # the end
    /* * / ** */ select 1
    select\t1\tfrom\ft
    select(1)from(select(2))
    select 'a'||b from t
    select a from t where(b)and(c)
    select[1]
    select-1`,
}

const lineBreaks = [
  'select 1 -- one\n, 2',
  'select 1 -- one\r, 2',
  'select 1 # one\r\n, 2',
  'select /* \n\r */ 1',
  '\n\nselect\n1\n\n',
  "select '''a\nb''', '''a\r\nb''', '''a\rb'''",
  "select r'''\\\n'''",
]

function lines(text: string, before = ''): string[] {
  return text
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean)
    .map(line => before + line)
}

/** Each group's name with its queries. */
export const corpus: [string, string[]][] = [
  ...Object.entries({ ...operands, ...expressions }).map(([name, text]): [string, string[]] => [
    name,
    lines(text, 'select '),
  ]),
  ...Object.entries(relations).map(([name, text]): [string, string[]] => [
    `from: ${name}`,
    lines(text, 'select 1 from '),
  ]),
  ...Object.entries(queries).map(([name, text]): [string, string[]] => [name, lines(text)]),
  ['line breaks', lineBreaks],
]
