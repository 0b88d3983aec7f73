/** The operator's command line: `npm run lqe -- <command>`. */
import { join } from 'node:path'
import { Command } from 'commander'
import { ConfigError, loadConfig } from '../shared/config.ts'
import { openServices, type Services } from '../shared/services.ts'
import { StoreError } from '../shared/store.ts'
import { KeyError } from '../shared/token.ts'
import { applyCommand } from './apply/command.ts'
import { QueriesError } from './apply/read.ts'
import { keyCommand } from './keys.ts'
import { logsCommand } from './logs/command.ts'
import { LogsError } from './logs/error.ts'

async function withServices(act: (services: Services) => Promise<void>): Promise<void> {
  const services = await openServices(loadConfig(process.env))
  try {
    await act(services)
  } finally {
    await services.close()
  }
}

function folders() {
  const { dataDir, tablesDir } = loadConfig(process.env)
  return { logsFolder: join(dataDir, 'logs'), tablesFolder: tablesDir }
}

/** Errors whose message is meant for the operator; anything else is a bug and shows its stack. */
const expected = [QueriesError, KeyError, LogsError, ConfigError, StoreError]

const program = new Command('lqe')
  .description('Endpoints, keys and logs of the log query service')
  .addCommand(applyCommand(withServices, () => loadConfig(process.env).engine === 'duckdb'))
  .addCommand(keyCommand(act => withServices(({ store }) => act(store))))
  .addCommand(logsCommand(folders))

try {
  await program.parseAsync()
} catch (error) {
  if (!expected.some(known => error instanceof known)) throw error
  console.error((error as Error).message)
  process.exitCode = 1
}
