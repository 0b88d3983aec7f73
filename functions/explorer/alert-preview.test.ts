/** What is said of an alert before it is made, and the bound that it begins with. */
import { describe, expect, test } from '@jest/globals'
import type { Row } from '../../shared/engines/engine.ts'
import { AlertPreview, boundFor } from './alert-preview.ts'
import { type Chosen, firstChoice, rowsWatched, type Watched } from './alerts.ts'
import { type Answer, type Endpoint, ServiceError } from './service.ts'

const parameters = ['since', 'until'].map(name => ({ name, format: 'iso-timestamp' }))
const endpoint = { name: 'busy', parameters, redact: false } as unknown as Endpoint
const entries: Watched = {
  ...rowsWatched(endpoint, {}, null),
  title: 'Entries',
  value: 'entries',
  unit: 'entries',
}
const share: Watched = { ...entries, value: 'matching', of: 'entries', isCount: false, unit: '%' }
const chosen: Chosen = { ...firstChoice, title: 'Entries', name: 'x' }

async function looked(rows: Row[] | ServiceError, watched = entries, first = chosen) {
  const calls: [from: string, to: string][] = []
  const preview = new AlertPreview(async ({ values }) => {
    calls.push([values['since']!, values['until']!])
    if (rows instanceof ServiceError) throw rows
    return { rows } as Answer
  })
  preview.look(watched, first)
  await new Promise(resolve => setTimeout(resolve))
  return { preview, calls }
}

describe('of an alert is said what it is now', () => {
  test.each<[Row[], Watched, Partial<Chosen>, string]>([
    [[{ entries: 12 }], entries, { bound: '20' }, 'Now 12 entries: it would not fire.'],
    [[{ entries: 12 }], entries, { bound: '11' }, 'Now 12 entries: it would fire.'],
    [[{ entries: 0 }], entries, { side: 'none' }, 'Now 0 entries: it would fire.'],
    [[{ entries: 12 }], entries, { bound: '' }, 'Now 12 entries.'],
    [[{ entries: 12 }], entries, { bound: 'many' }, 'Now 12 entries.'],
    [[{ matching: 3, entries: 40 }], share, { bound: '7' }, 'Now 7.5 %: it would fire.'],
    [[{ matching: 0, entries: 0 }], share, { bound: '7' }, 'Now nothing of nothing: it would not fire.'],
    [[{ entries: 12 }], entries, { before: 'PT1H', bound: '2' }, 'Now 1 times as much: it would not fire.'],
    [[{ entries: null }], entries, {}, 'Now there is no number: its state would be “no data”.'],
  ])('%j', async (rows, watched, patch, said) => {
    const own = { ...chosen, ...patch }
    const { preview } = await looked(rows, watched, own)
    expect(preview.said(watched, own)).toBe(said)
  })

  test('once for a window, and not of another', async () => {
    const { preview, calls } = await looked([{ entries: 1 }])
    preview.look(entries, { ...chosen, bound: '7' })
    expect(calls).toHaveLength(1)
    const [from, to] = calls[0]!
    expect(Date.parse(to) - Date.parse(from)).toBe(15 * 60_000)
    const hour = { ...chosen, window: '1h' }
    expect([preview.said(entries, hour), preview.valueOf(entries, hour)]).toEqual(['', null])
    preview.look(entries, hour)
    expect(preview.said(entries, hour)).toBe('Now …')
    expect(calls).toHaveLength(2)
  })

  test('and why it is not known', async () => {
    const { preview } = await looked(new ServiceError({ title: 'No', detail: 'project is required.' }))
    expect(preview.said(entries, chosen)).toBe('What it is now is not known: project is required.')
    expect(preview.valueOf(entries, chosen)).toBeNull()
  })
})

test.each<[number | null, Partial<Chosen>, boolean, string | null]>([
  [12, {}, false, '30'],
  [0, {}, false, '0'],
  [1200, {}, false, '3000'],
  [12, { side: 'below' }, false, '6'],
  [0.004, {}, true, '0.8'],
  [0.7, {}, true, '99'],
  [12, { before: 'P1D' }, false, '2'],
  [12, { before: 'P1D', side: 'below' }, false, '0.5'],
  [null, {}, false, null],
])('a bound for %j with %j, in percent: %j, is %j', (value, patch, isPercent, bound) => {
  expect(boundFor(value, { ...chosen, ...patch }, isPercent)).toBe(bound)
})
