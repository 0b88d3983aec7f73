/** `lqe channel test`: whether a message arrives. */
import { randomUUID } from 'node:crypto'
import { Command } from 'commander'
import type { Message } from '../../shared/alerts/channels.ts'
import type { Services } from '../../shared/services.ts'
import type { WithServices } from './command.ts'
import { print } from './print.ts'

/** Its action throws DeliveryError. */
export function channelCommand(withServices: WithServices): Command {
  const command = new Command('channel').description('channels of alerts: test one')
  command
    .command('test')
    .description('send a message to a channel that is applied, with the secrets of this environment')
    .argument('<name>', 'its name in channels.yaml')
    .action((name: string) => withServices(services => tryOut(services, name)))
  return command
}

/** What it opens, such as an incident, it closes again. */
async function tryOut({ deliver }: Services, name: string): Promise<void> {
  for (const state of ['firing', 'resolved'] as const) {
    const message: Message = {
      id: `msg_${randomUUID()}`,
      at: new Date().toISOString(),
      alert: 'test',
      endpoint: 'test',
      state,
      severity: 'info',
      text: `This is a test of the channel ${name}.`,
      parameters: {},
      rows: [],
    }
    await deliver(name, message, new AbortController().signal)
    print(`${name} took ${state}.`)
  }
}
