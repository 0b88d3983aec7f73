import { describe, expect, test } from '@jest/globals'
import { corpus } from './testing/corpus.ts'
import { parse } from './parser.ts'
import type { AnyNode } from './tree.ts'
import { children, descendants, heightOf, parameterNames } from './walk.ts'

/** Every node that can be reached through any property, which is what `children` must not miss. */
function reachable(value: unknown): AnyNode[] {
  if (Array.isArray(value)) return value.flatMap(reachable)
  if (typeof value !== 'object' || value === null) return []
  const below = Object.values(value).flatMap(reachable)
  return 'kind' in value && 'at' in value ? [value as unknown as AnyNode, ...below] : below
}

const trees = corpus.flatMap(([, queries]) => queries.map(sql => parse(sql)))

describe('a walk', () => {
  test('meets every node of every tree once', () => {
    for (const tree of trees) {
      const met = [...descendants(tree)]
      expect(new Set(met)).toEqual(new Set(reachable(tree)))
      expect(met).toHaveLength(reachable(tree).length)
    }
  })

  test('meets nodes in the order of the text', () => {
    for (const tree of trees) {
      for (const node of descendants(tree)) {
        const offsets = children(node).map(child => child.at)
        expect(offsets).toEqual(offsets.toSorted((a, b) => a - b))
      }
    }
  })

  test('throws for a kind that is not in the grammar', () => {
    expect(() => children({ kind: 'Delete', at: 0 } as unknown as AnyNode)).toThrow('Delete')
  })
})

describe('parameter names', () => {
  test('come with the offset where each is written first', () => {
    const names = parameterNames(parse('select @b, @a, @b from t where x = @A limit @n'))
    expect([...names]).toEqual([
      ['b', 7],
      ['a', 11],
      ['A', 35],
      ['n', 44],
    ])
  })
})

test('a tree is as high as its longest branch', () => {
  expect(heightOf(parse('select 1'))).toBe(4)
  expect(heightOf(parse('select 1 + 2 + 3'))).toBe(6)
})
