/** Addresses in the words of the page, and the last ones that were asked, each once. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { readLink } from './address.ts'
import { noteRecent, recentViews } from './recent.ts'
import type { Endpoint, Parameter } from './service.ts'
import { initial, type State } from './logs/state.ts'
import { aboutOf, narrowing, summaryOf } from './summary.ts'

describe('what an address asks is said in a line', () => {
  test.each([
    ['#logs.all', ''],
    ['#logs.all?project=abc&.from=now-6h', 'last 6 hours, project abc'],
    ['#logs.all?.table=edge_logs&.severity=error&.from=now-7d', 'errors in edge_logs, last 7 days'],
    [
      '#logs.all?.table=*&.search=time%26out&.severity=error%2Cwarning&.by=metadata.request.path',
      'errors and warnings in all tables, “time&out”, by path',
    ],
    ['#logs.all?.severity=other&.columns=id&.scope=entry&.row=1%3Aa&.order=up', 'other entries'],
    [
      '#logs.all?.where=metadata.request.method%3D%22GET%22&.where=metadata.response.status_code%3E%3D500',
      'method = GET, status_code >= 500',
    ],
    [
      '#logs.all?.where=m.path%3Dnull&.where=event_message%3D~%22GET%20%3Cn%3E%22',
      'without path, event_message like GET <n>',
    ],
    ['#logs.all?.where=broken&.measure=p95%3Ametadata.response.origin_time', 'broken, p95 origin_time'],
    [
      '#logs.all?.measure=share%3Aerror&.compare=day&.list=new',
      'share of errors, compared with the day before, new patterns',
    ],
    ['#logs.all?.measure=share%3Am.status%3D500', 'share of status = 500'],
    ['#logs.all?.from=&.to=', 'all time'],
    ['#logs.all?.from=now-90m', 'last 90 minutes'],
    ['#logs.all?.from=now-1d%2Fd&.to=now-1d%2Fd&.zone=Europe%2FBerlin', 'yesterday (Europe/Berlin)'],
    ['#logs.all?.from=2026-03-10T12%3A00Z&.to=', '03-10 12:00 to the last'],
    ['#logs.all?.from=2026-03-10T12%3A00%3A00Z&.to=2026-03-10T12%3A30%3A00Z', '03-10 12:00 to 12:30'],
    ['#logs.all?sql=SELECT+1%0A++FROM+t&.view=query', 'SELECT 1 FROM t'],
    [`#logs.all?sql=${'x'.repeat(500)}`, `${'x'.repeat(120)} …`],
    ['', ''],
  ])('%s: %s', (address, summary) => expect(summaryOf(address)).toBe(summary))

  test('of a state in full, as far as one wants', () => {
    const state = { ...initial, values: {}, table: 'edge_logs', redact: false, by: 'm.path', from: 'now-7d' }
    const filters = [{ path: 'm.method', operator: '=', value: 'GET' } as const]
    const about = (patch: Partial<State>) =>
      aboutOf({ ...state, filters, severity: ['error'], ...patch }, [...narrowing, 'from', 'to', 'zone'])
    expect(about({})).toBe('errors in edge_logs, method = GET, last 7 days')
    expect(about({ from: '', to: '' })).toBe('errors in edge_logs, method = GET, all time')
    const yesterday = { from: 'now-1d/d', to: 'now-1d/d', zone: 'Europe/Berlin' }
    expect(about(yesterday)).toBe('errors in edge_logs, method = GET, yesterday (Europe/Berlin)')
    expect(aboutOf(state, ['table', 'by'])).toBe('edge_logs, by path')
  })

  test('with the range of a form, whose parameters are the ends of it', () => {
    const parameters = ['project', 'iso_timestamp_start', 'iso_timestamp_end'].map(name => ({
      name,
      ...(name === 'project' ? {} : { format: 'iso-timestamp' }),
    })) as Parameter[]
    const of = (end: string) => summaryOf(`#logs.all?project=p&iso_timestamp_start=-7d${end}`, parameters)
    expect(of('')).toBe('last 7 days, project p')
    expect(of('&iso_timestamp_end=-1d')).toBe('now-7d to -1d, project p')
  })
})

describe('recent views', () => {
  const kept = new Map<string, string>()
  const before = globalThis.localStorage
  beforeAll(() => {
    const localStorage = {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, text: string) => void kept.set(name, text),
    }
    Object.assign(globalThis, { localStorage })
  })
  afterAll(() => void Object.assign(globalThis, { localStorage: before }))

  test('have a line for each question, the last one as it was asked first', () => {
    const endpoint = { name: 'logs.all', parameters: [] as Parameter[] } as Endpoint
    const asked = [
      '#logs.all?.severity=error&.from=now-7d',
      '#logs.all?.severity=error&.from=now-7d&.columns=id',
      '#logs.all?.from=now-6h',
      '#logs.all?.severity=error&.from=now-7d&.sort=&.columns=path&.row=1',
    ]
    for (const address of asked) noteRecent(readLink(address)!)
    const recent = recentViews(endpoint)
    expect(recent.map(({ text }) => text)).toEqual(['errors, last 7 days', 'last 6 hours'])
    expect(recent[0]!.address).toContain('.columns=path')
    expect(recent[0]!.address).not.toContain('.row')
  })
})
