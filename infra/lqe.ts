/** The command line: `npx lqe <command>`, in a folder of one's own as in the repository. */
import { join } from 'node:path'
import { inspect } from 'node:util'
import { Command } from 'commander'
import { type Config, ConfigError, loadConfig } from '../shared/config.ts'
import { EngineError } from '../shared/engines/engine.ts'
import { bigQueryOf } from '../shared/services.ts'
import { StoreError } from '../shared/stores/store.ts'
import { KeyError } from '../shared/keys/records.ts'
import { SecretError } from '../shared/pages/cursor.ts'
import { ApiError } from '../shared/errors.ts'
import { version } from '../shared/version.ts'
import { visible } from '../shared/visible-text.ts'
import { deployCommand } from './deploy/deploy.ts'
import { statusCommand } from './deploy/status.ts'
import { applyCommand } from './lqe/apply/apply.ts'
import { QueriesError } from './lqe/apply/yaml.ts'
import { CommandError, usingServices, type WithServices } from './lqe/command.ts'
import { cursorCommand } from './lqe/cursors.ts'
import { testCommand } from './lqe/endpoint-tests/command.ts'
import { endpointCommand } from './lqe/endpoints.ts'
import { enterFolder } from './lqe/folder.ts'
import { initCommand } from './lqe/init/command.ts'
import { importCommand } from './lqe/import/command.ts'
import { keyCommand } from './lqe/keys.ts'
import { toBigQuery } from './lqe/logs/bigquery.ts'
import { logsCommand } from './lqe/logs/command.ts'
import type { Folders } from './lqe/logs/parquet.ts'
import { queryCommand } from './lqe/query.ts'
import { storeCommand } from './lqe/store/command.ts'
import { tableCommand } from './lqe/tables/command.ts'
import { tailCommand } from './lqe/tail.ts'
import { typesCommand } from './lqe/types.ts'
import { warmCommand } from './lqe/warm.ts'
import { diffCommand, restoreCommand, versionsCommand } from './lqe/versions/commands.ts'
import { compareCommand } from './lqe/versions/compare.ts'
import { warn, withRemedy } from './lqe/print.ts'
import { alertCommand, channelCommand } from './lqe/alert.ts'
import { issuerCommand } from './lqe/issuers.ts'
import { tokenCommand } from './lqe/token.ts'
import { DeliveryError } from '../shared/alerts/channels.ts'

/** Options of commands that work on the deployed service, too. */
interface CloudOptions {
  store?: string
  engine?: string
  project?: string
}

/** The settings: the command line's options for the cloud override the environment. */
function config(): Config {
  const where = program.commands.map(command => command.opts<CloudOptions>()).find(({ store }) => store) ?? {}
  const { store, project, engine = store === 'firestore' ? 'bigquery' : undefined } = where
  // A command runs its own queries, and starts sooner without another process.
  const options = { STORE: store, ENGINE: engine, ENGINE_PROCESSES: '0', GOOGLE_CLOUD_PROJECT: project }
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  return loadConfig({ ...process.env, ...Object.fromEntries(given) })
}

const withServices: WithServices = act => usingServices(config(), act)

/** @throws CommandError for logs that are to be changed, where those of this machine are not the ones that are read */
function folders(change?: 'add' | 'clear'): Folders {
  const settings = config()
  const { engine, dataDir, tablesDir } = settings
  if (change === 'clear' && engine !== 'duckdb')
    throw new CommandError(`ENGINE is ${engine}, and this changes the logs of this machine: unset it.`)
  const send = change && engine === 'bigquery' ? toBigQuery(bigQueryOf(settings)) : undefined
  return { logsFolder: join(dataDir, 'logs'), tablesFolder: tablesDir, send }
}

/** Errors whose message is meant for the operator; anything else is a bug and shows its stack. */
const expected = [
  DeliveryError,
  ApiError,
  QueriesError,
  KeyError,
  SecretError,
  CommandError,
  ConfigError,
  StoreError,
  EngineError,
]

/** Whether the message is enough for who runs the command, as the file system's and DuckDB's of it are; a bug shows its stack. */
function isExpected(error: unknown): error is Error {
  const { syscall, message } = error as NodeJS.ErrnoException
  return (
    syscall !== undefined ||
    message?.startsWith('IO Error: ') ||
    expected.some(known => error instanceof known)
  )
}

/** A caller is not told why a definition fails, the operator is. */
function wordsOf({ message, cause }: Error): string {
  return cause instanceof EngineError && !message.includes(cause.message)
    ? `${message}\n${cause.message}`
    : message
}

/** Adds the options of CloudOptions. `logs` lacks them: it works on this machine, and has another --project. */
function withCloudOptions(command: Command): Command {
  return command
    .option('--store <store>', 'sqlite, or firestore for the deployed service (with its engine, bigquery)')
    .option('--engine <engine>', 'with --store: duckdb or bigquery')
    .option('--project <id>', 'with --store: Google Cloud project, with application default credentials')
}

const author = () => config().author
const tables = () => config().tablesDir
const cloud = [
  applyCommand(withServices, config),
  importCommand(withServices, tables, process.env),
  keyCommand(withServices),
  issuerCommand(withServices),
  cursorCommand(withServices),
  channelCommand(withServices),
  endpointCommand(withServices),
  queryCommand(withServices),
  tailCommand(withServices),
  warmCommand(withServices, config),
  alertCommand(withServices, config),
  versionsCommand(withServices),
  diffCommand(withServices),
  compareCommand(withServices),
  restoreCommand(withServices, author),
  storeCommand(withServices, author),
  typesCommand(withServices),
]
const start = new Command('start')
  .description('serve the endpoints of this folder on this machine, with a key and the page')
  .action(async () => (await import('./local/start.ts')).startHere())
const local = [
  initCommand(),
  start,
  testCommand(tables),
  tokenCommand(withServices, config),
  logsCommand(folders, withServices),
  tableCommand(() => folders('clear')),
  deployCommand(),
  statusCommand(withServices, config),
]

const program = new Command('lqe')
  .description('Endpoints, keys, logs and tables of the log query service')
  .version(version)
for (const command of [...cloud.map(withCloudOptions), ...local]) program.addCommand(command)

for (const each of [program, ...program.commands.flatMap(command => [command, ...command.commands])])
  each.configureOutput({ outputError: (text, write) => write(visible(text)) })

// Who reads it may have read enough, as `head` has: the command goes on to its end.
// So it does where a disk is full, and then it has failed.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || process.exitCode === 1) return
  warn(withRemedy(`Standard output takes no more: ${error.message}`))
  process.exitCode = 1
})

try {
  enterFolder()
  // `npm run lqe apply --dry-run`, without the `--` after lqe: npm keeps the option, and apply would apply.
  if (process.env['npm_config_dry_run'] === 'true')
    throw new ConfigError('npm took --dry-run for itself: npx lqe apply --dry-run')
  await program.parseAsync()
} catch (error) {
  if (isExpected(error)) warn(...wordsOf(error).split('\n').map(withRemedy))
  else warn(...inspect(error).split('\n'))
  process.exitCode = 1
}
