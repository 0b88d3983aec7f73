/** The command line: `lqe <command>`, in the repository `npm run lqe -- <command>`. */
import { join } from 'node:path'
import { inspect } from 'node:util'
import { Command } from 'commander'
import { type Config, ConfigError, loadConfig } from '../../shared/config.ts'
import { EngineError } from '../../shared/engines/engine.ts'
import { bigQueryOf, openServices, type Services } from '../../shared/services.ts'
import { StoreError } from '../../shared/stores/store.ts'
import { KeyError } from '../../shared/keys/records.ts'
import { SecretError } from '../../shared/pages/secret.ts'
import { ApiError } from '../../shared/errors.ts'
import { version } from '../../shared/version.ts'
import { visible } from '../../shared/visible-text.ts'
import { deployCommand } from '../deploy/deploy.ts'
import { applyCommand } from './apply/apply.ts'
import { QueriesError } from './apply/yaml.ts'
import { cursorCommand } from './cursors.ts'
import { testCommand } from './endpoint-tests/command.ts'
import { endpointCommand } from './endpoints.ts'
import { enterFolder } from './folder.ts'
import { initCommand } from './init/command.ts'
import { importCommand } from './import/command.ts'
import { keyCommand } from './keys.ts'
import { toBigQuery } from './logs/bigquery.ts'
import { logsCommand } from './logs/command.ts'
import { LogsError } from './logs/error.ts'
import type { Folders } from './logs/parquet.ts'
import { queryCommand } from './query.ts'
import { storeCommand } from './store/command.ts'
import { ExportError } from './store/contents.ts'
import { tableCommand } from './tables/command.ts'
import { tailCommand } from './tail.ts'
import { typesCommand } from './types.ts'
import { warmCommand } from './warm.ts'
import { diffCommand, restoreCommand, versionsCommand } from './versions/commands.ts'
import { compareCommand } from './versions/compare.ts'
import { VersionError } from './versions/version.ts'
import { warn } from './print.ts'
import { withRemedy } from './remedies.ts'

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

async function withServices(act: (services: Services) => Promise<void>): Promise<void> {
  const services = await openServices(config())
  try {
    await act(services)
  } finally {
    await services.close()
  }
}

/** @throws LogsError for logs that are to be changed, where those of this machine are not the ones that are read */
function folders(change?: 'add' | 'clear'): Folders {
  const settings = config()
  const { engine, dataDir, tablesDir } = settings
  if (change === 'clear' && engine !== 'duckdb')
    throw new LogsError(`ENGINE is ${engine}, and this changes the logs of this machine: unset it.`)
  const send = change && engine === 'bigquery' ? toBigQuery(bigQueryOf(settings)) : undefined
  return { logsFolder: join(dataDir, 'logs'), tablesFolder: tablesDir, send }
}

function applySettings() {
  const { engine, dataDir, tablesDir, author } = config()
  return { isLocal: engine === 'duckdb', dataDir, tablesFolder: tablesDir, author }
}

/** Errors whose message is meant for the operator; anything else is a bug and shows its stack. */
const expected = [
  ApiError,
  QueriesError,
  KeyError,
  SecretError,
  ExportError,
  LogsError,
  VersionError,
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
  applyCommand(withServices, applySettings),
  importCommand(withServices, tables, process.env),
  keyCommand(withServices),
  cursorCommand(withServices),
  endpointCommand(withServices),
  queryCommand(withServices),
  tailCommand(withServices),
  warmCommand(withServices, config),
  versionsCommand(withServices),
  diffCommand(withServices),
  compareCommand(withServices),
  restoreCommand(withServices, author),
  storeCommand(withServices, author),
  typesCommand(withServices),
]
const start = new Command('start')
  .description('serve the endpoints of this folder on this machine, with a key and the page')
  .action(async () => (await import('../local/start.ts')).startHere())
const local = [
  initCommand(),
  start,
  testCommand(tables),
  logsCommand(folders, withServices),
  tableCommand(() => folders('clear')),
  deployCommand(),
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
    throw new ConfigError('npm took --dry-run for itself: npm run lqe -- apply --dry-run')
  await program.parseAsync()
} catch (error) {
  if (isExpected(error)) warn(...error.message.split('\n').map(withRemedy))
  else warn(...inspect(error).split('\n'))
  process.exitCode = 1
}
