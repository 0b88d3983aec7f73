/**
 * The official conformance suite (https://github.com/modelcontextprotocol/conformance): what each revision of the protocol
 * requires of a server. Its scenarios call tools of fixed names, which stand behind the same route.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { startService, type TestService } from '../testing/service.ts'
import { serveFixtures } from './testing/fixtures.ts'
import { serveRoute } from './testing/serve-route.ts'

const suite = dirname(fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/package.json')))

/** The specification leaves it to a server what it offers; these scenarios are for what this one does not, and why. */
const notApplicable: Record<string, string[]> = {
  'the server would ask the client on a stream that outlives the request, which takes a session': [
    'tools-call-sampling',
    'tools-call-elicitation',
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
  ],
  'for the capability completions, which the server does not have': ['completion-complete'],
  'for the capability logging, which the server does not have': [
    'logging-set-level',
    'tools-call-with-logging',
  ],
  'for resources that change; tables do not': ['resources-subscribe', 'resources-unsubscribe'],
  'for tools and prompts that ask for more input; none does': [
    'input-required-result-basic-elicitation',
    'input-required-result-basic-sampling',
    'input-required-result-basic-list-roots',
    'input-required-result-request-state',
    'input-required-result-multiple-input-requests',
    'input-required-result-multi-round',
    'input-required-result-missing-input-response',
    'input-required-result-non-tool-request',
    'input-required-result-result-type',
    'input-required-result-tampered-state',
    'input-required-result-capability-check',
    'input-required-result-ignore-extra-params',
    'input-required-result-validate-input',
  ],
}

interface Check {
  id: string
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  errorMessage?: string
}

let service: TestService
let route: Awaited<ReturnType<typeof serveRoute>>
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  service = await startService({ tables: {}, bundle: null })
  route = await serveRoute(service, serveFixtures)
})

afterAll(async () => {
  route.stop()
  await service.stop()
  rmSync(folder, { recursive: true })
})

/** @returns the checks of each scenario that the suite ran */
async function checksOf(revision: string): Promise<Map<string, Check[]>> {
  const url = `http://localhost:${route.port}/mcp`
  const output = join(folder, revision)
  const args = [
    join(suite, 'dist/index.js'),
    'server',
    '--url',
    url,
    '--requirements',
    revision,
    '-o',
    output,
  ]
  // Its exit code counts scenarios that do not apply.
  await new Promise<void>(resolve => execFile(process.execPath, args, () => resolve()))
  const scenarioOf = (run: string) => /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(run)![1]!
  const read = (run: string) => JSON.parse(readFileSync(join(output, run, 'checks.json'), 'utf8')) as Check[]
  return new Map(readdirSync(output).map(run => [scenarioOf(run), read(run)]))
}

test.each(['2026-07-28', '2025-11-25'])(
  'every applicable check that revision %s requires passes',
  async revision => {
    const file = readFileSync(join(suite, 'requirements', `${revision}.yaml`), 'utf8')
    const { server: required } = parse(file) as { server: string[] }
    const checks = await checksOf(revision)
    expect(required.length).toBeGreaterThan(25)
    const applicable = required.filter(scenario => !Object.values(notApplicable).flat().includes(scenario))
    const results = applicable.map(scenario => {
      const failed = checks.get(scenario)?.filter(({ status }) => status === 'FAILURE')
      return [scenario, failed?.map(({ id, errorMessage }) => `${id}: ${errorMessage}`) ?? 'did not run']
    })
    expect(results).toEqual(applicable.map(scenario => [scenario, []]))
  },
)
