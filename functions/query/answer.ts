/** The steps from a request for an endpoint's rows to its response, in order. */
import { getAnswer, redactError } from '../../shared/run/get-answer.ts'
import type { AnswerResult } from '../../shared/run/query-request.ts'
import type { Config } from '../../shared/config.ts'
import { apiErrorOf } from '../../shared/run/blame.ts'
import { upstreamRequests } from '../../shared/run/upstream.ts'
import { type Endpoint, definitionError } from '../../shared/endpoints/definition.ts'
import { EngineError, type RunCost, type Statement } from '../../shared/engines/engine.ts'
import type { RequestLine } from '../../shared/request-log.ts'
import type { Services } from '../../shared/services.ts'
import { type Parameters, takes } from '../../shared/endpoints/parameters.ts'
import { assertSingleValues, readSql, withBody } from '../../shared/endpoints/query-string.ts'
import type { Caller } from '../../shared/keys/authenticate.ts'
import { Timing } from '../../shared/timing.ts'
import { type Call, goneSignal } from '../http/call.ts'
import { accessEndpoint, tellLimits } from './access.ts'
import { formatFor } from './formats.ts'
import { withAddress } from './hosted.ts'
import { labelsFor, redactionFor } from './headers.ts'
import { prepare, type Question } from './prepare.ts'
import { respond } from './respond.ts'
import { mapErrorToCallerSql } from './statement.ts'

/** `GET`, `HEAD` or `POST /api/endpoints/query/<name>`, and its other addresses */
export async function answer(call: Call): Promise<void> {
  const { req, notes } = call
  notes.how = 'http'
  const timing = new Timing()
  const { caller, endpoint } = await timing.measure('auth', () => accessEndpoint(call))
  const sent = withBody(call.query, req.method, req.body)
  const query = call.ref === null ? sent : withAddress(call, call.ref, endpoint, sent)
  assertSingleValues(req.body, name => takes(endpoint, name))
  const format = formatFor(req, query, endpoint)
  const redacted = redactionFor(endpoint, caller, req.headers)
  const callerSql = readSql(query, name => Object.hasOwn(endpoint.parameters, name))
  notes.sql = callerSql !== null
  const bypass = wantsBypass(call, caller)
  const gone = () => goneSignal(call.res)
  const labels = labelsFor(endpoint, req.headers)
  const isImposed = caller.redacted === true
  const question = { caller, endpoint, query, callerSql, redacted, isImposed, bypass, labels, gone }
  const answering = answerQuestion(call, question, timing)
  // A run has spent bytes, also one that failed.
  const { result, parameters } = await (caller.limits
    ? answering.finally(() => tellLimits(call, caller))
    : answering)
  await respond({ ...call, query: sent }, { endpoint, result, format, timing, parameters })
}

/**
 * The answer to a question, and the statement behind it: HTTP, MCP, alerts and the command line all ask here. @throws ApiError
 */
export async function answerQuestion(
  { services, config, notes }: { services: Services; config: Pick<Config, 'frozenNow'>; notes: RunNotes },
  question: Question,
  timing: Timing,
): Promise<{ result: AnswerResult; parameters: Parameters; statement: Statement }> {
  const { caller, callerSql, bypass, maxAgeSeconds, labels, gone } = question
  const endpoint = question.endpoint.upstream
    ? await resolveUpstream(services, question.endpoint)
    : question.endpoint
  // No key lifts the redaction of an endpoint that this one reads.
  const redacted = question.redacted || (endpoint.redact && !question.endpoint.redact)
  const asked = { ...question, endpoint, redacted }
  const prepared = await prepare(services, asked, config.frozenNow ?? Date.now()).catch((error: unknown) => {
    throw redacted ? redactError(error) : error
  })
  const { parameters, composed, page, keyFields, moment: now } = prepared
  const run = {
    redacted,
    bypass,
    ...(maxAgeSeconds === undefined ? {} : { maxAgeSeconds }),
    byteLimit: services.byteLimits(caller),
    labels: { ...labels, endpoint: endpoint.name, key: caller.keyId },
    gone,
    onRun: (cost: RunCost) => noteRun(notes, cost),
  }
  const request = {
    ...composed,
    ...run,
    endpoint,
    statement: page?.statement ?? composed.statement,
    page,
    upstream: endpoint.upstreamTables
      ? upstreamRequests(endpoint, parameters, { ...run, cursors: services.cursors, pins: caller.pins, now })
      : [],
    parameters: parameters.canonical,
    ...(keyFields ? { keyFields } : {}),
    sent: parameters.sent,
    timing,
  }
  const result = await timing
    .measure('cache', () => getAnswer(services, request))
    .catch((error: unknown) => {
      throw mapErrorToCallerSql(error, composed, callerSql)
    })
  return { result, parameters, statement: request.statement }
}

/** The endpoint with the tables that it reads of others. @throws ApiError */
export async function resolveUpstream(
  { findUpstream }: Pick<Services, 'findUpstream'>,
  endpoint: Endpoint,
): Promise<Endpoint> {
  try {
    return await findUpstream(endpoint)
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    throw error.reason === 'misconfigured'
      ? definitionError(endpoint, error.message)
      : apiErrorOf(error, endpoint)
  }
}

type RunNotes = Pick<RequestLine, 'bytes' | 'slotMs' | 'job'>

/**
 * Adds a run's cost to the log line. A call may take several runs: one for each endpoint that it reads, then its own, whose
 * job is noted.
 */
function noteRun(notes: RunNotes, { bytes, slotMs, jobId }: RunCost): void {
  const sum = (before: number | null | undefined, more: number | null) =>
    typeof before === 'number' ? before + (more ?? 0) : more
  Object.assign(notes, { bytes: sum(notes.bytes, bytes), slotMs: sum(notes.slotMs, slotMs), job: jobId })
}

/**
 * `Cache-Control: no-cache` costs a scan, so it needs the right `cache:bypass`; without it the header is ignored, as HTTP
 * allows.
 */
function wantsBypass({ req }: Call, caller: Caller): boolean {
  return caller.rights.includes('cache:bypass') && /\bno-cache\b/i.test(req.get('cache-control') ?? '')
}
