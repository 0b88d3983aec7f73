/** Alerts are read, checked, tested, applied and kept with their endpoints. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { testCommand } from '../endpoint-tests/command.ts'
import { contentsIn, readContents, textOf } from '../store/contents.ts'
import { runCommand } from '../testing/command.ts'
import { diffCommand, restoreCommand, versionsCommand } from '../versions/commands.ts'
import type { WithServices } from '../command.ts'
import { carryOutImport, planImport } from '../store/import.ts'
import { openSqlite } from '../../../shared/stores/sqlite/store.ts'
import { openEndpoints } from '../../../shared/endpoints/lookup.ts'
import { callableVersion } from '../../../shared/endpoints/versions.ts'
import { explained } from './apply.ts'
import { inFolder, queries, refusal, run, services, write } from './testing/folder.ts'

const yaml = `
id: 0b1f3c5e-6d3c-4f6e-9a55-1f0a4c2d7e11
description: Lines by level.
parameters:
  required: [project]
  properties:
    project: { type: string }
    since: { type: string, format: iso-timestamp }
    until: { type: string, format: iso-timestamp }
cache: { seconds: 60 }
`
const sql = `SELECT @project AS project, 'error' AS level, COUNT(*) AS lines, COUNTIF(event_message LIKE '%error%') AS errors
FROM \`pgbouncer.logs.prod\` WHERE timestamp > @since AND timestamp <= @until`
const alert = `
endpoint: levels
parameters: { project: abc, since: -1h, until: now }
condition: { value: errors, of: lines, above: 0.05 }
for: PT5M
severity: critical
text: '{{ errors }} of {{ lines }} lines of {{ project }} are errors: {{ value }}'
tests:
  - name: a tenth
    rows: [{ project: abc, level: error, lines: 40, errors: 1 }, { project: abc, level: error, lines: 30, errors: 3 }]
    fires: true
    text: '3 of 30 lines of abc are errors: 0.1'
  - rows: [{ lines: 0, errors: 0 }]
    fires: false
`

beforeEach(() => {
  write('levels.yaml', yaml)
  write('levels.sql', sql)
  write('errors.alert.yaml', alert)
})

const stored = async () => (await services.endpoints.all()).flatMap(({ alerts = [] }) => alerts)

describe('apply', () => {
  test('creates, changes and deletes alerts with their endpoint, whose version stays as it is', async () => {
    expect(await run(true)).toContain('+ levels created')
    expect(await stored()).toEqual([])
    await run()
    expect(await stored()).toEqual([
      {
        name: 'errors',
        sets: [{ project: 'abc', since: '-1h', until: 'now' }],
        condition: { value: 'errors', of: 'lines', above: 0.05 },
        everyMs: null,
        forMs: 300_000,
        repeatMs: null,
        severity: 'critical',
        text: '{{ errors }} of {{ lines }} lines of {{ project }} are errors: {{ value }}',
        channels: [],
        redact: true,
      },
    ])
    const { version } = (await services.endpoints.all())[0]!
    write('errors.alert.yaml', alert.replace('PT5M', 'PT10M'))
    const lines = await run(true)
    expect(lines).toContain('~ levels changed')
    expect(lines.join('\n')).toContain('-      "forMs": 300000,\n    +      "forMs": 600000,')
    await run()
    expect(await stored()).toMatchObject([{ forMs: 600_000 }])
    rmSync(join(queries, 'errors.alert.yaml'))
    await run()
    expect(await stored()).toEqual([])
    expect((await services.endpoints.all())[0]!.version).toBe(version)
  })

  test('explains how often they look, and says where each set runs its own query', async () => {
    expect((await explained(queries, 'levels', services.engine)).at(-1)).toBe(
      'the alert errors looks at one set of parameters every 60 s',
    )
    const two = 'parameters: [{ project: a, since: -1h, until: now }, { project: b, since: -1h, until: now }]'
    write('errors.alert.yaml', alert.replace(/parameters: .*/, two).replace(/tests:[^]*/, ''))
    expect(await run(true)).not.toContainEqual(expect.stringContaining('levels runs'))
    write('levels.sql', sql.replace('SELECT', 'SELECT AS STRUCT'))
    expect(await run(true)).toContainEqual(
      expect.stringMatching(/^! levels runs for its alerts one by one, because of .*levels\.sql:1:/),
    )
    write('levels.yaml', yaml.replace('60', '0'))
    expect(await run(true)).toContain('! levels has no cache.seconds, so each set of an alert runs its query')
  })

  test('keeps what it had before: versions has it, diff shows it, restore brings it back, and an export has all', async () => {
    await run()
    write('errors.alert.yaml', alert.replace('PT5M', 'PT10M'))
    await run()
    const lqe = (command: Command, ...args: string[]) => runCommand(command, ['levels', ...args])
    const withServices: WithServices = act => act(services)
    const { out } = await lqe(versionsCommand(withServices))
    const { id, version } = (await services.endpoints.all())[0]!
    expect(out.split('\n').slice(0, 2)).toEqual([
      expect.stringMatching(new RegExp(`^\\* ${version}-[0-9a-f]{8}  `)),
      expect.stringMatching(new RegExp(`^  ${version}-[0-9a-f]{8}  `)),
    ])
    expect((await lqe(diffCommand(withServices), 'previous')).out).toContain(
      '-      "forMs": 300000,\n+      "forMs": 600000,',
    )
    await lqe(
      restoreCommand(withServices, () => 'me'),
      out.slice(out.indexOf('\n') + 3).split(' ')[0]!,
    )
    expect(await stored()).toMatchObject([{ forMs: 300_000 }])
    const text = textOf(await readContents(services.store))
    const kept = contentsIn(text, 'file').definitions.filter(({ endpoint }) => endpoint.id === id)
    const waits = kept.map(({ inForce, endpoint: { alerts = [] } }) => [inForce, alerts[0]?.forMs])
    expect(waits).toEqual(
      expect.arrayContaining([
        [true, 300_000],
        [false, 600_000],
      ]),
    )
    const other = openSqlite({ file: ':memory:' })
    await carryOutImport(other, await planImport(other, contentsIn(text, 'file')), 'me')
    expect(textOf(await readContents(other))).toBe(text)
    await other.close()
  })

  test('leaves its version callable by the hash that answers have', async () => {
    await run()
    const before = (await services.endpoints.all())[0]!
    write('levels.sql', sql.replace("'error'", "'warning'"))
    await run()
    const current = (await services.endpoints.all())[0]!
    expect(current.version).not.toBe(before.version)
    expect((await services.endpoints.version(current, before.version))?.sql).toBe(before.sql)
    write('levels.yaml', `${yaml}endEarlierVersions: true`)
    await run()
    const fresh = openEndpoints(services.store, { rememberMs: 1, maxResultBytes: 1 })
    expect(await callableVersion(services.store, current, before.version)).toBeNull()
    expect(await fresh.version(current, before.version)).toBeNull()
  })

  test.each([
    [
      'an endpoint that is not there',
      'endpoint: levels',
      'endpoint: level',
      '2:11 endpoint names level, which is not there; did you mean levels?',
    ],
    [
      'a field that is not known',
      'severity:',
      'sevrity:',
      '6:1 sevrity is not known; did you mean severity?',
    ],
    [
      'a parameter that is none',
      'project: abc,',
      'project: abc, projct: a,',
      /3:29 parameters.projct is no parameter of levels; did you mean project\?/,
    ],
    ['a parameter that is missing', 'project: abc, ', '', /3:13 parameters.project project is required/],
    ['a value that does not fit', 'since: -1h', 'since: yesterday', /parameters.since must be/],
    [
      'a set that is there twice',
      /parameters: (.*)/,
      'parameters: [$1, $1]',
      /parameters.1 is the same set as parameters.0/,
    ],
    [
      'a column that is none',
      'value: errors',
      'value: erors',
      /4:21 condition.value erors is no column; did you mean errors\?/,
    ],
    [
      'a column that is no number',
      'of: lines',
      'of: level',
      /condition.of level must be a number, and is STRING/,
    ],
    ['a share of rows', 'value: errors', 'value: rows', /condition.of divides a column, not the rows/],
    ['no bound', ', above: 0.05', '', /condition needs above/],
    ['two bounds', 'above: 0.05', 'above: 0.05, below: 1', /condition/],
    [
      'a name in the text that is nothing',
      '{{ errors }}',
      '{{ error }}',
      /7:7 text has {{ error }}, which is nothing; did you mean errors\?/,
    ],
    ['an interval of less than a minute', 'for: PT5M', 'every: PT0M', /every must be a minute at least/],
    ['a duration that is none', 'PT5M', '5m', /for must match pattern .*PT5M/],
    [
      'a window with a fixed end',
      /until: now }\n(.*)0.05/,
      "until: '2026-01-01' }\n$10.05, before: P1D",
      /condition.before needs an endpoint that takes both ends of its window, as times relative to now: since and until/,
    ],
    [
      'a test that does otherwise',
      'fires: false',
      'fires: true',
      /14:12 tests.1.fires is otherwise: the alert is calm, with the value null/,
    ],
    [
      'a test with another text',
      '3 of 30 lines of abc',
      '4 of 30',
      /12:11 tests.0.text "a tenth" is otherwise: "3 of 30 lines of abc are errors: 0.1"/,
    ],
  ])('refuses %s, naming the file, line and column', async (_, from, to, expected) => {
    write('errors.alert.yaml', alert.replace(from, to))
    const message = await refusal()
    expect(message).toMatch(/^errors\.alert\.yaml:\d+:\d+ /)
    if (typeof expected === 'string') expect(message).toBe(`errors.alert.yaml:${expected}`)
    else expect(message).toMatch(expected)
  })

  test('takes a window of which both ends move, and compares with the rows of before', async () => {
    const before = `before: P1D, above: 2 }\ntext: '{{ value }} times as many of {{ project }}'\ntests:
  - { rows: [{ errors: 3 }, { errors: 4 }], before: [{ errors: 2 }], fires: true, text: '3.5 times as many of abc' }`
    write('errors.alert.yaml', alert.replace(/of: lines[^]*/, before))
    expect(await run()).toContain('+ levels created')
    expect((await stored())[0]!.condition).toEqual({ value: 'errors', beforeMs: 86_400_000, above: 2 })
  })

  test('takes no endpoint whose file would be one of an alert', async () => {
    write('a.alert.sql', 'SELECT 1 AS a')
    expect(await refusal()).toMatch(/^a\.alert\.sql:1:1 has no \.yaml beside it/)
  })
})

test('lqe test runs the tests of alerts', async () => {
  const lqe = () =>
    runCommand(
      testCommand(() => 'infra/tables'),
      ['levels', '--queries', queries],
    )
  expect((await lqe()).out).toContain('= the alert errors passed; cases: 2\n')
  write('errors.alert.yaml', alert.replace(/tests:[^]*/, ''))
  expect(inFolder((await lqe()).out)).toContain(
    '? the alert errors has no tests; they would be in errors.alert.yaml\n',
  )
  write('errors.alert.yaml', alert.replace('above: 0.05', 'above: 0.1'))
  expect(await lqe()).toMatchObject({
    code: 1,
    err: expect.stringContaining('tests.0.fires "a tenth" is otherwise'),
  })
})
