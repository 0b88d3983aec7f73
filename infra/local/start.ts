/** `npm start`: the service on this machine, with sample logs, a key and requests to try. */
import { once } from 'node:events'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server as Listener } from 'node:net'
import { dirname, join } from 'node:path'
import { type Config, ConfigError, loadConfig } from '../../shared/config.ts'
import type { EngineError } from '../../shared/engines/engine.ts'
import { openDataFolder } from '../../shared/data-folder.ts'
import { openServices, type Services } from '../../shared/services.ts'
import { createAuthenticator } from '../../shared/keys/authenticate.ts'
import { issueKey } from '../../shared/keys/records.ts'
import { endpointsCollection } from '../../shared/endpoints/lookup.ts'
import { version } from '../../shared/version.ts'
import { openSqlite } from '../../shared/stores/sqlite/store.ts'
import { StoreError } from '../../shared/stores/store.ts'
import { apply } from '../lqe/apply/apply.ts'
import { buildExplorer } from '../deploy/build-explorer.ts'
import { QueriesError } from '../lqe/apply/yaml.ts'
import { LogsError } from '../lqe/logs/error.ts'
import { sourcesOf } from '../lqe/logs/publish.ts'
import { projects } from '../lqe/logs/sample.ts'
import { print, warn } from '../lqe/print.ts'
import { functionOf, start, untilUp } from './process.ts'
import { makeSampleLogs } from './samples.ts'
import './with-parent.ts'

try {
  const config = loadConfig(process.env)
  const { port } = config
  const place = await holdPort(port)
  assertWritable(config)
  await assertStore(config)
  await makeSampleLogs(config)
  const services = await openServices({ ...config, engineProcesses: 0 })
  const ofFiles = (line: string) => line.replace(/^~ .*/, '$&, as in queries/; its tests were not run')
  await apply(services, {
    queries: 'queries',
    dryRun: false,
    out: text => print(...ofFiles(text).split('\n')),
  })
  const [key, project] = [await localKey(config, services), await busiestProject(services)]
  await services.close()
  const explorer = await makeExplorer(config)
  await new Promise(resolve => place.close(resolve))
  const server = await start({ ...functionOf('infra/local/service.ts', 'query', process.env), port })
  let stopping = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      stopping = true
      server.child.kill(signal)
      // For a service that is too busy to see the signal, with a function of DuckDB in JavaScript.
      setTimeout(() => server.child.kill('SIGKILL'), config.drainMs)
    })
  server.child.on('exit', (code, signal) => {
    if (signal && !stopping) console.error(`The service was ended by ${signal}: npm start begins it again.`)
    process.exit(code ?? 1)
  })
  await untilUp(server)
  greet(port, { key, project, explorer })
  server.child.stdout!.pipe(process.stdout)
} catch (error) {
  const sentence = sentenceOf(error)
  if (sentence === null) throw error
  warn(...sentence.split('\n'))
  process.exit(1)
}

/** What is in the way and what to do; `null` = a bug, which shows its stack. */
function sentenceOf(error: unknown): string | null {
  if (error instanceof ConfigError || error instanceof LogsError) return error.message
  if (error instanceof QueriesError)
    return `${error.message}\nThe service was not started: correct queries/, then run npm start again.`
  if (error instanceof StoreError)
    return `${error.message}; correct that, or move the file away: npm start makes another, with a new key`
  const { syscall, code, message } = error as NodeJS.ErrnoException
  if (syscall === undefined) return null
  const remedy = code === 'ENOSPC' ? 'make room' : 'let this user read and write it'
  return `${message}; ${remedy}, or set DATA_DIR to a folder elsewhere`
}

/**
 * Held until the service takes it, so that of two starts at once the second ends before it has written anything.
 * @throws ConfigError where this process cannot listen on the port
 */
async function holdPort(port: number): Promise<Listener> {
  // Who connects already is refused: a connection that stays open would keep `close` from ever ending.
  const place = createServer(socket => socket.destroy()).listen(port)
  await once(place, 'listening').catch(({ code }: NodeJS.ErrnoException) => {
    const reason = code === 'EACCES' ? 'is for the system alone' : 'is not free'
    throw new ConfigError(`Port ${port} ${reason}: set another one, as in PORT=8081 npm start`)
  })
  return place
}

/** @throws ConfigError, LogsError for a damaged record of loads, the file system's error for logs that this user cannot read */
function assertWritable({ dataDir }: Config): void {
  try {
    // Node's recursive mkdir never ends below /proc.
    if (!existsSync(dataDir)) mkdirSync(dataDir, { recursive: !existsSync(dirname(dataDir)) })
    openDataFolder(dataDir)
    rmdirSync(mkdtempSync(join(dataDir, '.try-')))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConfigError(`DATA_DIR: ${dataDir} cannot be written (${code}); set it to a folder of your own`)
  }
  const logs = join(dataDir, 'logs')
  if (!existsSync(logs)) return
  for (const table of readdirSync(logs)) {
    accessSync(join(logs, table), constants.R_OK | constants.X_OK)
    sourcesOf(logs, table)
  }
}

/** Opens the store before all else, without a log line for each call. @throws StoreError */
async function assertStore({ dataDir, store: kind }: Config): Promise<void> {
  if (kind !== 'sqlite') return
  const store = openSqlite({ file: join(dataDir, 'store.sqlite') })
  await store.query({ collection: endpointsCollection, limit: 1 })
  await store.close()
}

/**
 * Builds the explorer, unless the setting names a folder or says off.
 * @returns whether the service has a page
 */
async function makeExplorer({ dataDir, explorerDir }: Config): Promise<boolean> {
  if (process.env['EXPLORER_DIR']) return explorerDir !== null
  const folder = join(dataDir, 'explorer')
  await buildExplorer(folder).catch(({ message }: Error) => {
    throw new ConfigError(`The page: ${message.split(':')[0]}; EXPLORER_DIR=off starts without it`)
  })
  process.env['EXPLORER_DIR'] = folder // for the service, which is a process of its own
  return true
}

/** The key of this machine, in a file beside the data: each start prints the same. */
async function localKey({ dataDir }: Config, { store }: Services): Promise<string> {
  const file = join(dataDir, 'local-key')
  if (existsSync(file)) {
    const known = readFileSync(file, 'utf8').trim()
    const works = await createAuthenticator(store)(known).catch(() => null)
    if (works) return known
  }
  const grant = { name: 'local', endpoints: '*' as const, pins: {}, expiresAt: null }
  const { key } = await issueKey(store, { ...grant, rights: ['pii:read', 'cache:bypass'] })
  writeFileSync(file, `${key}\n`, { mode: 0o600 })
  return key
}

/** The project of the printed requests: one with rows, also in logs of the user. A damaged log does not stop the service. */
async function busiestProject({ engine }: Services): Promise<string> {
  const sql = 'SELECT project FROM `cloudflare.logs.prod` GROUP BY project ORDER BY COUNT(*) DESC LIMIT 1'
  const found = await engine
    .run({ sql, bindings: [] }, { maxRows: 1, timeoutMs: 10_000 })
    .catch((error: EngineError) => warn(`cloudflare.logs.prod: ${error.message}`))
  const project = found?.rows[0]?.['project']
  return typeof project === 'string' ? project : projects[0]!.ref
}

function greet(
  port: number,
  { key, project: ref, explorer }: { key: string; project: string; explorer: boolean },
): void {
  // For the quotation marks of the lines below.
  const project = encodeURIComponent(ref.toWellFormed()).replaceAll("'", '%27')
  const base = `http://localhost:${port}/api/endpoints/query`
  const page = `http://localhost:${port}/#usage.api-counts?interval=daily&project=${project}`
  console.log(`
Serving at http://localhost:${port}, version ${version}
API key: ${key}
${explorer ? `\nIn a browser, with that key:\n  ${page}\n` : ''}
The newest log entries of a project:
  curl -s '${base}/logs.all?project=${project}' -H 'X-API-KEY: ${key}'

Requests by day over the last 7 days (also hourly, minutely):
  curl -s '${base}/usage.api-counts?interval=daily&project=${project}' -H 'X-API-KEY: ${key}'
`)
}
