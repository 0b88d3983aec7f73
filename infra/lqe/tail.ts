/** `lqe tail NAME`: the newest rows of an endpoint with pages, and those that come, oldest first; it asks again and again. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Command, Option } from 'commander'
import type { Endpoint, Paging } from '../../shared/endpoints/definition.ts'
import { fromMicros } from '../../shared/endpoints/timestamps.ts'
import type { Row } from '../../shared/engines/engine.ts'
import { ApiError } from '../../shared/errors.ts'
import { pageRows } from '../../shared/pages/statement.ts'
import { visibleJson } from '../../shared/visible-text.ts'
import type { Services } from '../../shared/services.ts'
import { type WithServices, wholeNumber } from './command.ts'
import { answerOf, collectParameter, findEndpoint } from './query.ts'
import { print, printData, warn } from './print.ts'

interface TailOptions {
  param: string[]
  rows: number
  every: number
  format: 'text' | 'ndjson'
  redact?: boolean
}

/** Its action ends at SIGINT, SIGTERM or a closed pipe, and throws ApiError for what will not pass by itself. */
export function tailCommand(withServices: WithServices) {
  return new Command('tail')
    .description('print the newest rows of an endpoint, and those that come, until Ctrl-C')
    .argument('<name>', 'the name or id of an endpoint with pages')
    .option('--param <name=value>', 'a parameter; repeat for more', collectParameter, [])
    .option('--rows <count>', 'rows to begin with', wholeNumber(0, 99_999), 10)
    .option(
      '--every <seconds>',
      'how often to ask for more; on BigQuery each time costs at least 10 MB',
      wholeNumber(0, 99_999),
      5,
    )
    .addOption(
      new Option('--format <format>', 'a line for each row').choices(['text', 'ndjson']).default('text'),
    )
    .option('--redact', 'without personal data')
    .action((name: string, options: TailOptions) => withServices(services => tail(services, name, options)))
}

/** @throws ApiError for what will not pass by itself */
async function tail(services: Services, name: string, options: TailOptions): Promise<void> {
  const endpoint = await findEndpoint(services, name)
  const { page } = endpoint
  if (!page)
    throw new ApiError(
      'invalid_request',
      `${endpoint.name} has no rows to follow: its definition has no page.`,
    )
  const printRow = (row: Row) =>
    options.format === 'text' ? print(lineOf(row, page)) : printData(visibleJson(JSON.stringify(row)))
  const stopped = stopSignal()
  const first = await ask(services, endpoint, options, null)
  for (const unknown of first.ignored) warn(`${endpoint.name} has no parameter ${unknown}.`)
  const few = options.rows === 0 ? [] : first.rows.slice(0, options.rows)
  few.toReversed().forEach(printRow)
  const full = Math.min(endpoint.maxRows, pageRows({ ...endpoint, page }))
  let { newest } = first
  for (let seconds = options.every; await pause(stopped, seconds);) {
    const answer = await ask(services, endpoint, options, newest).catch(untilItPasses)
    seconds = answer?.rows.length === full ? 0 : options.every
    if (!answer) continue
    answer.rows.forEach(printRow)
    newest = answer.newest
  }
}

/** One call. @param newest the mark of the one before */
async function ask(
  services: Services,
  endpoint: Endpoint,
  { param, redact = false }: TailOptions,
  newest: string | null,
) {
  const query = [...param, ...(newest === null ? [] : [`follow=${newest}`])].join('&')
  const { answer, ignored } = await answerOf(services, endpoint, query, { sql: null, redact, fresh: true })
  const { page } = answer.summary
  if (!page) throw new ApiError('invalid_request', 'Rows of SQL are not followed: leave sql out.')
  return { rows: await answer.rows(), newest: page.newest!, ignored }
}

/** What may pass is said, and tried again; the caller's own mistakes end the command. */
function untilItPasses(error: unknown): null {
  if (!(error instanceof ApiError) || error.status < 500) throw error
  warn(`${error.message} Trying again.`)
  return null
}

/** @returns false once the command is to end */
async function pause(stopped: AbortSignal, seconds: number): Promise<boolean> {
  await sleep(seconds * 1000, null, { signal: stopped }).catch(() => {})
  return !stopped.aborted
}

/** Aborts with Ctrl-C, and where nothing reads the lines any more, as after `| head`. */
function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  process.stdout.once('error', () => stop.abort())
  return stop.signal
}

/** The time, and every other plain value but the tie-breaker. */
function lineOf(row: Row, { by: [time, tie] }: Paging): string {
  const { [time]: at, [tie]: _, ...others } = row
  const texts = Object.values(others).filter(value => value !== null && typeof value !== 'object')
  const when = typeof at === 'number' ? (fromMicros(BigInt(at)) ?? at) : ''
  return [when, ...texts].join('  ').replaceAll(/[\r\n]+/g, ' ')
}
