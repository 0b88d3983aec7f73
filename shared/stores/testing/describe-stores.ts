import { beforeAll, describe } from '@jest/globals'
import { type Adapter, adapters } from './adapters.ts'
import { missingEmulator, useEmulator } from '../../../infra/google/firestore-emulator.ts'

/** A suite for every store adapter. */
export function describeStores(what: string, suite: (adapter: Adapter) => void): void {
  for (const adapter of adapters)
    describeUnless(adapter.missing(), `${what} on ${adapter.name}`, () => {
      beforeAll(() => adapter.start())
      suite(adapter)
    })
}

/** A suite for Firestore's emulator alone. */
export function describeEmulator(what: string, suite: () => void): void {
  describeUnless(missingEmulator(), what, () => {
    beforeAll(useEmulator)
    suite()
  })
}

/** A suite that cannot run on this machine is skipped, with the reason. */
function describeUnless(missing: string | null, title: string, suite: () => void): void {
  if (missing === null) {
    describe(title, suite)
    return
  }
  process.stderr.write(`SKIPPED: ${title}: ${missing}\n`)
  describe.skip(`${title} (skipped: ${missing})`, suite)
}
