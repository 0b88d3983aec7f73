/** `lqe start`: the service on this machine, with sample logs, a key and requests to try; it takes files of queries/ as they are saved. */
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
  statSync,
  writeFileSync,
} from 'node:fs'
import { watch } from 'node:fs/promises'
import { createServer, type Server as Listener } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Config, ConfigError, loadConfig } from '../../shared/config.ts'
import type { EngineError } from '../../shared/engines/engine.ts'
import { openDataFolder, portFile } from '../../shared/data-folder.ts'
import { ending, functionFolder, isBuilt } from '../../shared/package-folder.ts'
import { openServices, type Services } from '../../shared/services.ts'
import { createAuthenticator } from '../../shared/keys/authenticate.ts'
import { issueKey, rights } from '../../shared/keys/records.ts'
import { endpointsCollection } from '../../shared/endpoints/lookup.ts'
import { version } from '../../shared/version.ts'
import { openSqlite } from '../../shared/stores/sqlite/store.ts'
import { StoreError } from '../../shared/stores/store.ts'
import { apply } from '../lqe/apply/apply.ts'
import { samplesOf } from '../../shared/endpoints/samples.ts'
import { QueriesError } from '../lqe/apply/yaml.ts'
import { queriesFolder } from '../lqe/folder.ts'
import { CommandError } from '../lqe/command.ts'
import { sourcesOf } from '../lqe/logs/publish.ts'
import { projects } from '../lqe/logs/sample.ts'
import { print, warn } from '../lqe/print.ts'
import { functionOf, type Server, start, untilUp } from './process.ts'
import { makeSampleLogs } from './samples.ts'
import './with-parent.ts'

/** How it is begun again. */
const again = isBuilt ? 'npx lqe start' : 'npm start'

/** Ends with the service, or where something is in the way. */
export async function startHere(): Promise<void> {
  try {
    await serve(loadConfig(process.env))
  } catch (error) {
    const sentence = sentenceOf(error)
    if (sentence === null) throw error
    warn(...sentence.split('\n'))
    process.exit(1)
  }
}

async function serve(config: Config): Promise<void> {
  const { port } = config
  const place = await holdPort(port)
  assertWritable(config)
  await assertStore(config)
  await makeSampleLogs(config)
  const services = await openServices({ ...config, engineProcesses: 0 })
  const queries = queriesFolder()
  const applyFiles = (out: (text: string) => void) => apply(services, { queries, dryRun: false, out })
  await applyFiles(printPlan)
  const [key, examples] = [await localKey(config, services), await examplesOf(services)]
  const explorer = await makeExplorer(config)
  if (queries === 'queries') process.env['QUERIES_DIR'] = resolve(queries) // what the page saves there, `watchFiles` applies
  await new Promise(resolve => place.close(resolve))
  const server = await startService(config)
  await untilUp(server)
  writeFileSync(portFile(config.dataDir), `${port}\n`)
  greet(port, key, examples, explorer)
  if (queries !== 'queries')
    print('There is no queries/ here, so these are endpoints that ship. Your own: npx lqe init')
  else await watchFiles(queries, () => applyFiles(printChanges))
}

function printPlan(text: string): void {
  print(...text.replace(/^~ .*/, '$&, as in queries/; its tests were not run').split('\n'))
}

function printChanges(text: string): void {
  const changes = text.split('\n').filter(line => !line.startsWith('= '))
  if (changes.length > 0) printPlan(changes.join('\n'))
}

/** This process ends with it, and by its end. */
async function startService({ port, drainMs }: Config): Promise<Server> {
  // What this process applies is in force at the next call.
  const env = { REMEMBER_MS: '1', ...process.env }
  const service = join(import.meta.dirname, `service.${ending}`)
  const server = await start({ ...functionOf(service, 'query', env), port })
  let stopping = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      stopping = true
      server.child.kill(signal)
      // For a service that is too busy to see the signal, with a function of DuckDB in JavaScript.
      setTimeout(() => server.child.kill('SIGKILL'), drainMs)
    })
  server.child.on('exit', (code, signal) => {
    if (signal && !stopping) console.error(`The service was ended by ${signal}: ${again} begins it again.`)
    process.exit(code ?? 1)
  })
  server.child.stdout!.pipe(process.stdout)
  return server
}

/** Applies the folder when a file in it is saved, and says where one is wrong; what was in force stays so then. */
async function watchFiles(queries: string, applyFiles: () => Promise<void>): Promise<void> {
  let applied = ''
  for await (const { filename } of watch(queries)) {
    if (!/\.(sql|yaml)$/.test(filename ?? '')) continue
    await sleep(savedMs)
    const saved = timesOf(queries)
    if (saved === applied) continue // one save is several events
    applied = saved
    await applyFiles().catch((error: Error) => {
      if (!(error instanceof QueriesError)) return warn(error.message)
      warn(...error.message.split('\n'), 'What was in force before stays so.')
    })
  }
}

/** Its files, and when each was written last. */
function timesOf(folder: string): string {
  return readdirSync(folder)
    .map(name => `${name} ${statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs}`)
    .join()
}

/** An editor may write a file in several steps, and the two of an endpoint one after the other. */
const savedMs = 30

/** What is in the way and what to do; `null` = a bug, which shows its stack. */
function sentenceOf(error: unknown): string | null {
  if (error instanceof ConfigError || error instanceof CommandError) return error.message
  if (error instanceof QueriesError)
    return `${error.message}\nThe service was not started: correct queries/, then run ${again} again.`
  if (error instanceof StoreError)
    return `${error.message}; correct that, or move the file away: ${again} makes another, with a new key`
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
    throw new ConfigError(`Port ${port} ${reason}: set another one, as in PORT=8081 ${again}`)
  })
  return place
}

/** @throws ConfigError, CommandError for a damaged record of loads, the file system's error for logs that this user cannot read */
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
 * The explorer that was built with this program, or one that is built here, unless the setting names a folder or says off.
 * @returns whether the service has a page
 */
async function makeExplorer({ dataDir, explorerDir }: Config): Promise<boolean> {
  if (process.env['EXPLORER_DIR']) return explorerDir !== null
  const folder = isBuilt ? join(functionFolder, 'explorer') : join(dataDir, 'explorer')
  if (!isBuilt) await build(folder)
  process.env['EXPLORER_DIR'] = folder // for the service, which is a process of its own
  return true
}

async function build(folder: string): Promise<void> {
  const { buildExplorer } = await import('../deploy/build-explorer.ts')
  await buildExplorer(folder).catch(({ message }: Error) => {
    throw new ConfigError(`The page: ${message.split(':')[0]}; EXPLORER_DIR=off starts without it`)
  })
}

/** The key of this machine, in a file beside the data: each start prints the same, with every right. */
async function localKey({ dataDir }: Config, { store }: Services): Promise<string> {
  const file = join(dataDir, 'local-key')
  if (existsSync(file)) {
    const known = readFileSync(file, 'utf8').trim()
    const works = await createAuthenticator(store)(known).catch(() => null)
    if (rights.every(right => works?.rights.includes(right))) return known
  }
  const grant = { name: 'local', endpoints: '*' as const, pins: {}, expiresAt: null }
  const { key } = await issueKey(store, { ...grant, rights: [...rights] })
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

interface Example {
  name: string
  title: string
  query: string
}

/** Calls of two endpoints with their required parameters, but not of the service's usage, which begins empty. */
async function examplesOf(services: Services): Promise<Example[]> {
  const all = (await services.endpoints.all()).filter(({ name }) => name !== usageEndpoint)
  const shown = [...all.slice(0, 1), ...all.slice(1).slice(-1)]
  const hasProject = shown.some(({ parameters }) => 'project' in parameters)
  // Of a chart's intervals, days show the most.
  const values: Record<string, string> = {
    interval: 'daily',
    ...(hasProject ? { project: await busiestProject(services) } : {}),
  }
  return shown.map(({ name, description, parameters, required }) => {
    const pairs = required.map(parameter => {
      const value = values[parameter] ?? samplesOf(parameters[parameter]!).at(0) ?? ''
      return [parameter, String(value)] as [string, string]
    })
    const query = new URLSearchParams(pairs).toString()
    return { name, title: (description ?? name).split(/[.:;](?: |$)/)[0]!, query: query && `?${query}` }
  })
}

const usageEndpoint = 'service.usage'

function greet(port: number, key: string, examples: Example[], explorer: boolean): void {
  const at = `http://localhost:${port}`
  const last = examples.at(-1)
  const page = `${at}/${last ? `#${last.name}${last.query}` : ''}`
  print('', `Serving at ${at}, version ${version}`, `API key: ${key}`)
  if (explorer) print('', 'In a browser, with that key:', `  ${page}`)
  for (const { title, name, query } of examples) {
    const call = `${at}/api/endpoints/query/${name}${query}`
    print('', `${title}:`, `  curl -s '${call}' -H 'X-API-KEY: ${key}'`)
  }
  print('')
}
