/** Queries that are GoogleSQL, by subject: what the parser reads and the printer writes. */
import { expressions } from './corpus-expressions.ts'
import { operands } from './corpus-operands.ts'

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
    (select 1 order by 1) limit 1`,
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
