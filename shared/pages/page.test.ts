/** A short form of `page.soak.ts`, and both directions on every engine. */
import { expect, test } from '@jest/globals'
import { describeEngines } from '../engines/testing/describe-engines.ts'
import { cursorsInMemory, pagedTable, pages, pageWhileLoading } from './testing/paging.ts'

test('4,000 rows, page by page while rows are loaded: none is lost, none comes twice', async () => {
  const seed = Math.floor(Date.now() / 86_400_000)
  const counts = await pageWhileLoading({ seed, rows: 4000, pageSize: 150, loadEvery: 5, rowsOfLoad: 200 })
  expect(counts.ofTheStart).toBe(4000)
  expect(counts.endedInAMoment).toBeGreaterThan(3)
})

describeEngines('pages', pagedTable, ({ engine, append }) => {
  const rows = Array.from({ length: 23 }, (_, at) => ({
    id: at === 7 ? null : `Zürich ${String(at).padStart(2, '0')}`,
    timestamp: new Date(Math.floor(at / 5) * 1000).toISOString(),
  }))
  const idOf = (row: object) => ('id' in row ? String(row.id) : '')

  test('go back to the oldest row, and forward from where there was none', async () => {
    const cursors = cursorsInMemory()
    const reader = { engine: engine(), cursors, pageSize: 4 }
    let start = ''
    for await (const { marks } of pages(reader)) start = marks.newest!
    await append('logs', rows)
    const sorted = rows
      .toSorted((a, b) => b.timestamp.localeCompare(a.timestamp) || ((b.id ?? '') < (a.id ?? '') ? -1 : 1))
      .map(idOf)
    const back: string[] = []
    for await (const page of pages(reader)) back.push(...page.rows.map(idOf))
    expect(back).toEqual(sorted)
    const forward: string[] = []
    for await (const page of pages({ ...reader, from: { follow: start } }))
      forward.push(...page.rows.map(idOf))
    expect(forward).toEqual(sorted.toReversed())
  })
})
