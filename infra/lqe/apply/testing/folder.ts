/** For tests: a folder of definitions for each test, which begins empty with nothing in force, and what `apply` does with it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach } from '@jest/globals'
import { loadConfig } from '../../../../shared/config.ts'
import { openServices, type Services } from '../../../../shared/services.ts'
import { apply } from '../apply.ts'

const home = mkdtempSync(join(tmpdir(), 'apply-'))

/** The same for all tests of a file. */
export let services: Services
/** The folder of the test. */
export let queries: string

beforeAll(async () => {
  services = await openServices(loadConfig({ DATA_DIR: join(home, 'data'), ENGINE_PROCESSES: '0' }))
})
afterAll(async () => {
  await services.close()
  rmSync(home, { recursive: true })
})
beforeEach(async () => {
  queries = mkdtempSync(join(home, 'queries-'))
  await run()
})

export function write(file: string, text: string): void {
  writeFileSync(join(queries, file), text)
}

/** The lines of `lqe apply`. */
export async function run(dryRun = false): Promise<string[]> {
  const lines: string[] = []
  await apply(services, { queries, dryRun, tablesFolder: 'infra/tables', out: line => lines.push(line) })
  return lines
}

/** Without the folder before the names of its files. */
export const inFolder = (text: string): string => text.replaceAll(`${queries}/`, '')

/** What `apply` refuses the folder with, or its lines. */
export async function refusal(): Promise<string> {
  return inFolder(await run().then(String, (error: Error) => error.message))
}
