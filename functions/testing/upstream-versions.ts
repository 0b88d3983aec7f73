/** An endpoint that reads another, and calls of it while versions of that are restored. */
import { expect } from '@jest/globals'
import { runCommand } from '../../infra/lqe/testing/command.ts'
import { restoreCommand } from '../../infra/lqe/versions/commands.ts'
import type { Files, Reading } from './upstream.ts'

export const common = 'parameters: { properties: {} }\ncache: { seconds: 600 }'
export const named = (name: string) => ({ yaml: common, sql: `SELECT '${name}' AS made_by` })
export const reader = {
  yaml: `${common}\nupstream: { rows_of_it: { endpoint: part } }`,
  sql: 'SELECT made_by FROM rows_of_it',
}
/** The reader, and what it reads, which says which version it is. */
export const files = (name: string): Files => ({ part: named(name), reader })

/** Definitions are remembered for a while, on a busy machine for a little longer. */
const slackMs = 1_000

/** @returns how many versions answered */
export async function callsDuringRestores(
  it: Reading,
  { calls, restoreEvery }: { calls: number; restoreEvery: number },
): Promise<number> {
  const names = ['first', 'second', 'third']
  const versions = new Map<string, string>()
  for (const name of names) {
    await it.apply(files(name))
    versions.set(name, (await it.service.services.endpoints.find('part'))!.version)
  }
  const inForce = [{ name: 'third', until: Infinity }]
  let restoring = Promise.resolve()
  const restoreNext = async (name: string) => {
    const last = inForce.at(-1)!
    inForce.push({ name, until: Infinity })
    const command = restoreCommand(
      act => act(it.service.services),
      () => 'tester',
    )
    expect((await runCommand(command, ['part', versions.get(name)!])).err).toBe('')
    last.until = performance.now()
  }
  const answered = new Set<unknown>()
  let left = calls
  const caller = async () => {
    while (left-- > 0) {
      const name = names[(left / restoreEvery) % 3]
      if (name) await (restoring = restoring.then(() => restoreNext(name)))
      const began = performance.now()
      const [row] = (await it.call('reader')).result
      const known = inForce.filter(({ until }) => until >= began - slackMs)
      expect(known.map(one => one.name)).toContain(row!['made_by'])
      answered.add(row!['made_by'])
    }
  }
  await Promise.all(Array.from({ length: 4 }, caller))
  return answered.size
}
