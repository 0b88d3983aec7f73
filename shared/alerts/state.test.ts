import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Alert, Endpoint } from '../endpoints/definition.ts'
import type { Finding } from './condition.ts'
import { firstState, shownState, step } from './state.ts'
import { advance, type AlertRecord, type Subject } from './record.ts'
import { toldBy } from './testing/model.ts'

const minute = 60_000
const rule = { forMs: 5 * minute, repeatMs: null }
const marginMs = 0

/** What is told, and what lists show, minute by minute. */
function play(
  found: Finding[],
  {
    forMs = rule.forMs,
    repeatMs = null,
    held = [],
  }: { forMs?: number; repeatMs?: number | null; held?: number[] } = {},
) {
  let state = firstState(0)
  return found.map((finding, at) => {
    const next = step({ forMs, repeatMs, marginMs }, state, finding, at * minute, held.includes(at))
    state = next.state
    return `${shownState(state).state}${next.tells ? ` tells ${next.tells}` : ''}`
  })
}

const times = (n: number, finding: Finding) => Array.from({ length: n }, () => finding)

describe('the state of an alert', () => {
  test('is pending until the condition has held for as long as the alert says, and resolved at once', () => {
    expect(play([...times(6, 'firing'), 'firing', 'calm', 'calm'])).toEqual([
      ...Array.from({ length: 5 }, () => 'pending'),
      'firing tells firing',
      'firing',
      'resolved tells resolved',
      'resolved',
    ])
  })

  test('begins to wait anew where the condition did not hold in between', () => {
    expect(play([...times(4, 'firing'), 'calm', ...times(5, 'firing')])).not.toContain('firing tells firing')
  })

  test('is told though the last evaluation came a little early', () => {
    const first = step({ ...rule, marginMs: minute }, firstState(0), 'firing', 0).state
    expect(step({ ...rule, marginMs: minute }, first, 'firing', 4 * minute).tells).toBe('firing')
    expect(step({ ...rule, marginMs: minute }, first, 'firing', 4 * minute - 1).tells).toBeNull()
  })

  test('is told again as often as the alert says', () => {
    const told = play(times(8, 'firing'), { forMs: 0, repeatMs: 3 * minute })
    expect(told.map(text => text.includes('tells'))).toEqual([
      true,
      false,
      false,
      true,
      false,
      false,
      true,
      false,
    ])
    expect(play(times(8, 'calm'), { forMs: 0, repeatMs: minute })).toEqual(times(8, 'calm').map(() => 'ok'))
  })

  test('is failing once there was no answer for five minutes', () => {
    expect(play(times(6, 'failing'), { forMs: 0 }).slice(4)).toEqual(['pending', 'failing tells failing'])
    expect(play(times(2, 'no data'), { forMs: 0 })).toEqual(['no data tells no data', 'no data'])
  })

  test('tells nothing while it is held, and afterwards what still holds', () => {
    expect(play(times(4, 'firing'), { forMs: 0, held: [0, 1] })).toEqual([
      'pending',
      'pending',
      'firing tells firing',
      'firing',
    ])
    expect(play(['firing', 'calm', 'firing'], { forMs: 0, held: [1] }).at(-1)).toBe('firing')
  })

  test('tells what a plain model tells of any findings', () => {
    const finding = fc.constantFrom<Finding>('calm', 'firing', 'no data', 'failing')
    const findings = fc.array(fc.record({ finding, after: fc.integer({ min: 0, max: 4 }) }), {
      maxLength: 40,
    })
    fc.assert(
      fc.property(findings, fc.nat(3), fc.option(fc.integer({ min: 1, max: 9 })), (found, wait, repeat) => {
        const rule = { forMs: wait * 2 * minute, repeatMs: repeat && repeat * minute, marginMs: minute / 2 }
        let [now, state] = [0, firstState(0)]
        const all = found.map(({ finding, after }) => ({ finding, now: (now += after * minute) }))
        const told = all.flatMap(({ finding, now }) => {
          const next = step(rule, state, finding, now)
          state = next.state
          return next.tells ? [{ state: next.tells, at: now }] : []
        })
        expect(told).toEqual(toldBy(rule, all))
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('the record of an alert', () => {
  const alert: Alert = {
    name: 'a',
    sets: [{ who: 'tom@example.com' }],
    condition: { value: 'n', above: 0 },
    everyMs: null,
    forMs: 0,
    repeatMs: null,
    severity: 'info',
    text: '{{ n }}',
    channels: ['ops'],
    redact: true,
  }
  const subject: Subject = { alert, set: alert.sets[0]!, endpoint: { id: 'i', name: 'e' } as Endpoint }
  const firing = { finding: 'firing' as const, value: 7, count: 1, rows: [{ n: 7 }] }
  const calm = { finding: 'calm' as const, value: 0, count: 0, rows: [] }

  test('tells of an end what it told before, and of a failure its code alone', () => {
    const first = advance(subject, null, firing, { now: 0, isSilenced: false })
    const last = advance(subject, first, calm, { now: 1, isSilenced: false })
    expect(last.outbox.map(({ message }) => [message.state, message.text, message.rows])).toEqual([
      ['firing', '7', [{ n: 7 }]],
      ['resolved', '7', []],
    ])
    expect(last.outbox[0]!.message.parameters).toEqual({ who: 'REDACTED' })
    let record: AlertRecord | null = null
    for (const now of [0, 300_000])
      record = advance(
        subject,
        record,
        { finding: 'failing', code: 'engine_error' },
        { now, isSilenced: false },
      )
    expect(record!.outbox.map(({ message }) => message.text)).toEqual(['e answers engine_error'])
    const [{ message }] = advance(
      subject,
      null,
      { ...calm, finding: 'no data', value: null },
      { now: 0, isSilenced: false },
    ).outbox as [AlertRecord['outbox'][number]]
    expect(message.text).toBe('e has no number in n')
  })

  test('holds back while 20 messages wait, and keeps 50 in the history', () => {
    let record: AlertRecord | null = null
    const turn = (at: number) =>
      (record = advance(subject, record, at % 2 ? calm : firing, { now: at, isSilenced: false }))
    for (let at = 0; at < 60; at++) turn(at)
    expect(record!.outbox).toHaveLength(20)
    expect(record!.history).toHaveLength(20)
    for (let at = 60; at < 160; at++) {
      record = { ...record!, outbox: [] }
      turn(at)
    }
    expect(record!.history).toHaveLength(50)
    expect(new Set(record!.history.map(({ id }) => id)).size).toBe(50)
  })
})
