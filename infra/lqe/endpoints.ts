/** `lqe endpoint ...`: what is applied. */
import { Command } from 'commander'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import type { Services } from '../../shared/services.ts'
import type { WithServices } from './command.ts'
import { print } from './print.ts'

/** It reads the store, not the files of `queries/`. */
export function endpointCommand(withServices: WithServices) {
  const command = new Command('endpoint').description('endpoints of the service: list')
  command
    .command('list')
    .description('print every endpoint that is applied, with its parameters; * marks those that are required')
    .action(() => withServices(list))
  return command
}

async function list({ endpoints }: Services): Promise<void> {
  const all = await endpoints.all()
  if (all.length === 0) print('There are no endpoints. Apply those of queries/ with: npx lqe apply')
  for (const endpoint of all) print(`${endpoint.id}  ${endpoint.name}  ${parametersOf(endpoint)}`)
}

function parametersOf({ parameters, required }: Endpoint): string {
  return Object.keys(parameters)
    .map(name => (required.includes(name) ? `${name}*` : name))
    .join(' ')
}
