/** `lqe cursor rotate`: another secret for the cursors of pages. */
import { Command, Option } from 'commander'
import { rotateSecret } from '../../shared/pages/cursor.ts'
import type { Store } from '../../shared/stores/store.ts'
import { audit } from './account.ts'
import type { WithStore } from './command.ts'
import { duration } from './keys.ts'
import { print } from './print.ts'

/** As a key's that is rotated. */
const weekMs = 7 * 86_400_000

/** Its action throws SecretError where the rotation before is not over. */
export function cursorCommand(withStore: WithStore): Command {
  const command = new Command('cursor').description('cursors of pages: rotate their secret')
  command
    .command('rotate')
    .description('make another secret; cursors that callers have lead on for a while')
    .addOption(
      new Option('--overlap <duration>', 'how long they do').argParser(duration).default(weekMs, '7d'),
    )
    .addOption(new Option('--at-once', 'they end within 30 seconds, as after a leak').conflicts('overlap'))
    .action(({ overlap, atOnce }: { overlap: number; atOnce?: true }) =>
      withStore(({ store }) => rotate(store, atOnce ? 0 : overlap)),
    )
  return command
}

async function rotate(store: Store, overlapMs: number): Promise<void> {
  const until = (await rotateSecret(store, overlapMs)).toISOString()
  audit('cursors rotated', { oldExpiresAt: until })
  print('Cursors are made with a new secret in 30 seconds.')
  print(`Those of before lead on until ${until}; then callers begin with their first page again.`)
}
