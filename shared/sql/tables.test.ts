import { describe, expect, test } from '@jest/globals'
import { parse } from './parser.ts'
import { tablesOf } from './tables.ts'

function tables(sql: string): string[] {
  return tablesOf(parse(sql)).map(({ path }) => path.map(({ name }) => name).join('/'))
}

describe('tables are found', () => {
  test.each([
    ['select 1', []],
    ['select 1 from a, d.b join `p.d.t` as c on true', ['a', 'd/b', 'p.d.t']],
    ['select (select 1 from a), array(select 1 from b), exists(select 1 from c)', ['a', 'b', 'c']],
    ['select 1 from (select 1 from a) where x in (select 1 from b)', ['a', 'b']],
    ['select f(x -> (select 1 from a)), g(y => (select 1 from b))', ['a', 'b']],
    ['select 1 from t group by (select 1 from a) having (select 1 from b)', ['t', 'a', 'b']],
    ['select 1 from t qualify (select 1 from a) order by (select 1 from b)', ['t', 'a', 'b']],
    ['select sum(x) over (partition by (select 1 from a) order by (select 1 from b))', ['a', 'b']],
    ['select sum(x) over w from t window w as (order by (select 1 from a))', ['t', 'a']],
    ['select any_value(x having max (select 1 from a))', ['a']],
    ['select array_agg(x order by (select 1 from a))', ['a']],
    ["select cast(x as string format (select 'Y' from a))", ['a']],
    ["select extract(hour from x at time zone (select 'Z' from a))", ['a']],
    ['select interval (select 1 from a) day', ['a']],
    ['select x[(select 1 from a)], [(select 1 from b)], struct((select 1 from c))', ['a', 'b', 'c']],
    ['select * replace ((select 1 from a) as x) from t', ['a', 't']],
    ['select 1 from t join u on (select true from a)', ['t', 'u', 'a']],
    ['select 1 from unnest((select [1] from a))', ['a']],
    ['(select 1 from a) union all (select 1 from b) order by (select 1 from c)', ['a', 'b', 'c']],
  ])('in %s', (sql, expected) => {
    expect(tables(sql).toSorted()).toEqual([...expected].sort())
  })
})

describe('a common table is no table', () => {
  test.each([
    ['where it is in scope', 'with a as (select 1) select 1 from a', []],
    ['in any case', 'with Logs as (select 1) select 1 from LOGS, `logs`', []],
    ['in those behind it', 'with a as (select 1), b as (select 1 from a) select 1 from b', []],
    ['in subqueries', 'with a as (select 1) select (select 1 from (select 1 from a))', []],
    ['in a nested WITH', 'with a as (select 1) (with b as (select 1 from a) select 1 from b)', []],
    [
      'in itself, with RECURSIVE',
      'with recursive a as (select 1 union all select 1 from a) select 1 from a',
      [],
    ],
  ])('%s', (_where, sql, expected) => {
    expect(tables(sql)).toEqual(expected)
  })

  test.each([
    ['before it is defined', 'with a as (select 1 from b), b as (select 1) select 1 from a', ['b']],
    ['in itself', 'with a as (select 1 from a) select 1 from a', ['a']],
    ['outside its WITH', 'select 1 from (with a as (select 1) select 1 from a), a', ['a']],
    ['in a sibling', 'with a as (with b as (select 1) select 1 from b) select 1 from b', ['b']],
    ['with a dot behind it', 'with a as (select 1) select 1 from a.b', ['a/b']],
    ['by a letter that only looks alike', 'with `\u212a` as (select 1) select 1 from k', ['k']],
  ])('but it is one %s', (_where, sql, expected) => {
    expect(tables(sql)).toEqual(expected)
  })
})

describe('an array of a row in scope is no table', () => {
  test.each([
    ['beside its table', 'select 1 from t, t.a, a.b as c, c.d'],
    ['by its alias', 'select 1 from t as x cross join X.a left join x.b'],
    ['behind UNNEST', 'select 1 from t, unnest(t.a) as m, m.b'],
    ['in a subquery of an expression', 'select (select 1 from t.a) from t where exists(select 1 from t.a)'],
    [
      'in ON and ORDER BY',
      'select 1 from t join unnest([1]) on (select true from t.a) order by (select 1 from t.a)',
    ],
    ['deep in a correlated subquery', 'select (select 1 from (select 1 from t.a)) from t'],
  ])('%s', (_where, sql) => {
    expect(tables(sql)).toEqual(['t'])
  })

  test.each([
    [
      'a subquery in FROM sees no neighbours',
      'select 1 from t as d, (select s from d.secret)',
      ['t', 'd/secret'],
    ],
    ['nor does a join in parentheses', 'select 1 from t as d, (d.a join b on true)', ['t', 'd/a', 'b']],
    ['an alias hides the name', 'select 1 from t as x, t.a', ['t', 't/a']],
    ['order matters', 'select 1 from t.a, t', ['t/a', 't']],
    [
      'rows do not reach into WITH',
      'select (with c as (select 1 from t.a) select 1 from c) from t',
      ['t', 't/a'],
    ],
    ['rows do not leave their query', 'select 1 from (select 1 from t) as u, t.a', ['t', 't/a']],
    ['a common table is no row', 'with c as (select 1) select 1 from c.a', ['c/a']],
    ['the right side of RIGHT JOIN stands alone', 'select 1 from t right join t.a on true', ['t', 't/a']],
    ['a dotted name in backticks is no row', 'select 1 from `p.t`, `p.t`.a', ['p.t', 'p.t/a']],
  ])('but %s', (_why, sql, expected) => {
    expect(tables(sql).toSorted()).toEqual(expected.toSorted())
  })
})
