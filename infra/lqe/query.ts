/** `lqe query NAME`: the rows that an endpoint answers, for its operator: no key, the same cache and the same checks. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { answerQuestion } from '../../functions/query/answer.ts'
import { formats, inFormat } from '../../functions/query/formats.ts'
import { headingOf, timeText } from '../../shared/answers/times.ts'
import { type Answer, columnsWithJsonText } from '../../shared/answers/answer.ts'
import { rowsAsTable } from '../../shared/run/upstream.ts'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { readSql } from '../../shared/endpoints/query-string.ts'
import { writeParquet } from '../../shared/engines/duckdb/database.ts'
import type { Row, Statement, Value } from '../../shared/engines/engine.ts'
import { ApiError } from '../../shared/errors.ts'
import type { Caller } from '../../shared/keys/authenticate.ts'
import { rights } from '../../shared/keys/records.ts'
import type { Services } from '../../shared/services.ts'
import type { Column } from '../../shared/sql/types.ts'
import { visible, visibleJson } from '../../shared/visible-text.ts'
import { nameHint } from '../../shared/sql/hints.ts'
import { Timing } from '../../shared/timing.ts'
import { pairIn, type WithServices } from './command.ts'
import { typedPath } from './path.ts'
import { aligned, print, printData, warn } from './print.ts'

interface QueryOptions {
  param: string[]
  sql?: string
  format: string
  out?: string
  redact?: true
  fresh?: true
}

/** Its action throws ApiError. Rows go to standard output, all else to standard error. */
export function queryCommand(withServices: WithServices) {
  const names = ['table', ...formats.map(({ name }) => name)]
  return new Command('query')
    .description('run an endpoint and print its rows')
    .argument('<name>', 'the name or id of an endpoint')
    .option('--param <name=value>', 'a parameter; repeat for more', collectParameter, [])
    .option('--sql <sql>', 'SQL of your own over the endpoint’s tables')
    .addOption(new Option('--format <format>', 'how the rows are printed').choices(names).default('table'))
    .addOption(
      new Option('--out <file.parquet>', 'write the rows to a Parquet file, with their types')
        .argParser(parquetPath)
        .conflicts('format'),
    )
    .option('--redact', 'without personal data')
    .option('--fresh', 'run it, though there is a cached answer')
    .action((name: string, options: QueryOptions) => withServices(services => query(services, name, options)))
}

/** @throws ApiError */
async function query(services: Services, name: string, options: QueryOptions): Promise<void> {
  const { param, sql = null, format, out, redact = false, fresh = false } = options
  const endpoint = await findEndpoint(services, name)
  const asked = { sql, redact, fresh }
  const { answer, ignored, statement } = await answerOf(services, endpoint, param.join('&'), asked)
  const known = Object.keys(endpoint.parameters)
  for (const unknown of ignored)
    warn(`${endpoint.name} has no parameter ${unknown}; ${nameHint(unknown, known)}`)
  if (answer.summary.truncated)
    warn(`Only the first ${answer.summary.rows} rows: there are more than maxRows`)
  if (out === undefined) return printData((await printed(answer, format)).trimEnd())
  const { columns: own } = await services.engine.describe(statement)
  const columns = endpoint.jsonAsText ? columnsWithJsonText(own) : own
  await store(out, columns, answer)
  print(`${counted(answer.summary.rows)} in ${out}`)
}

/** @param columns by a dry run, as the rows of an answer are JSON. @throws ApiError where no file was written */
async function store(out: string, columns: Column[], answer: Answer): Promise<void> {
  const rows = rowsAsTable(columns, await answer.rows(), answer.summary.redacted)
  await writeParquet(out, columns, rows).catch((cause: Error) => {
    throw new ApiError('invalid_request', `${out} was not written: ${cause.message}`, { cause })
  })
}

interface AnswerOptions {
  sql: string | null
  redact: boolean
  /** Whether a cached answer will not do. */
  fresh: boolean
  /** What relative times count from, ISO 8601; absent or `null` = the present. */
  now?: string | null
}

/**
 * What the endpoint answers a key with every right.
 * @param query as in a URL
 * @throws ApiError
 */
export async function answerOf(
  services: Services,
  endpoint: Endpoint,
  query: string,
  { sql, redact, fresh, now = null }: AnswerOptions,
): Promise<{ answer: Answer; ignored: string[]; statement: Statement }> {
  const operator: Caller = {
    keyId: 'lqe',
    name: 'lqe',
    endpoints: '*',
    pins: {},
    rights: [...rights],
    limits: null,
  }
  const question = {
    caller: operator,
    endpoint,
    query,
    callerSql: sql ?? readSql(query, name => Object.hasOwn(endpoint.parameters, name)),
    redacted: redact,
    bypass: fresh,
    gone: () => new AbortController().signal,
  }
  const context = { services, config: { frozenNow: now }, notes: {} }
  const { result, parameters, statement } = await answerQuestion(context, question, new Timing())
  return { answer: result.answer, ignored: parameters.undeclared, statement }
}

/** @throws ApiError `not_found`, with the nearest name */
export async function findEndpoint({ endpoints }: Services, name: string): Promise<Endpoint> {
  const endpoint = await endpoints.find(name)
  if (endpoint) return endpoint
  const names = (await endpoints.all()).map(each => each.name)
  throw new ApiError('not_found', `There is no endpoint ${name}; ${nameHint(name, names)}`)
}

async function printed(answer: Answer, format: string): Promise<string> {
  const write = formats.find(({ name }) => name === format)?.write
  const text = write
    ? await inFormat(answer, write)
    : format === 'json'
      ? await answer.bytes('identity')
      : null
  if (text === null) return (await inFormat(answer, asTable)).toString()
  return format.endsWith('json') ? visibleJson(text.toString()) : text.toString()
}

function counted(rows: number): string {
  return rows === 1 ? '1 row' : `${rows} rows`
}

/** The widest that a column is printed; values in full are in the other formats. */
const maxWidth = 60

function asTable(rows: Row[], columns: string[]): string {
  const heads = columns.map(name => cell(headingOf(rows, name)))
  const cells = rows.map(row => columns.map(column => cell(row[column] ?? null)))
  return [...aligned([heads, ...cells]), counted(rows.length)].join('\n')
}

/** A time is printed as the page shows it, in UTC. */
function cell(value: Value): string {
  const plain = timeText(value) ?? value ?? ''
  const text = typeof plain === 'string' ? plain : JSON.stringify(plain)
  const line = visible(text.replaceAll(/\s+/g, ' '))
  return line.length > maxWidth ? `${line.slice(0, maxWidth - 1)}…` : line
}

/** @returns as in a query string */
export function collectParameter(text: string, before: string[]): string[] {
  const pair = pairIn(text, 'name=value, such as project=abc', { least: 0 })
  return [...before, pair.map(encodeURIComponent).join('=')]
}

function parquetPath(text: string): string {
  if (!text.endsWith('.parquet'))
    throw new InvalidArgumentError('Name a file .parquet; other formats are printed: --format csv > FILE.')
  return typedPath(text)
}
