/** The whole process, as it is deployed: what clients without a key, and keys in wrong places, do to it and to its log. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { apply } from '../infra/lqe/apply/apply.ts'
import { writeSample } from '../infra/lqe/logs/sample.ts'
import { loadConfig } from '../shared/config.ts'
import { makeKey, writeKey } from '../shared/key-text.ts'
import { issueKey } from '../shared/keys/records.ts'
import { openServices } from '../shared/services.ts'
import { type FunctionProcess, startFunction } from './testing/framework.ts'

/** Raw bytes from a client without a key, against the whole process. */
describe('raw bytes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-'))
  const head = 'HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
  let server: FunctionProcess

  beforeAll(async () => {
    server = await startFunction('query', { env: { DATA_DIR: folder, EXPLORER_DIR: 'off' } })
  })

  afterAll(async () => {
    server.child.kill('SIGTERM')
    await once(server.child, 'exit')
    rmSync(folder, { recursive: true, force: true })
  })

  /** One alert for a caller without a key is one too many. */
  afterEach(async () => {
    expect(await send(`GET /health ${head}`)).toEqual([200])
    expect(server.output()).not.toMatch(/"severity":"(ERROR|WARNING)"/)
  })

  /**
   * Sends bytes over a connection of their own.
   * @param after what the client does next: `wait` for an end of the connection, or at most a minute; `end` its half;
   *   `leave` without an answer
   * @returns the statuses of the answers
   */
  async function send(bytes: string, after: 'wait' | 'end' | 'leave' = 'wait'): Promise<number[]> {
    const socket = connect({ port: Number(new URL(server.url).port), host: '127.0.0.1', allowHalfOpen: true })
    let received = ''
    socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
    socket.on('error', () => {}) // 'close' comes after it
    const closed = new Promise(resolve => socket.on('close', resolve))
    socket.on('end', () => socket.end())
    socket.write(Buffer.from(bytes, 'latin1'))
    if (after === 'end') socket.end()
    if (after === 'leave') setTimeout(() => socket.destroy(), 2)
    await Promise.race([closed, sleep(60_000, undefined, { ref: false })])
    socket.destroy()
    const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(match => Number(match[1]))
    expect(received.match(/\r\nX-Content-Type-Options: nosniff\r\n/gi) ?? []).toHaveLength(statuses.length)
    return statuses
  }

  const methods = [
    'GET',
    'HEAD',
    'POST',
    'OPTIONS',
    'PROPFIND',
    'TRACE',
    'QUERY',
    'M-SEARCH',
    'CONNECT',
    'get',
  ]
  const targets = [
    '*',
    '//',
    '/%',
    '/%00',
    '/\\',
    'a',
    'a:443',
    '?x',
    '/#x',
    'https://',
    'http:/x',
    'http://[',
    '/é',
  ]

  describe('a target that names nothing', () => {
    test.each(targets)('%s gets a 4xx, by any method', async target => {
      const text = (method: string) => `${method} ${target} ${head}`
      const statuses = (await Promise.all(methods.map(method => send(text(method))))).flat()
      expect(statuses).toHaveLength(methods.length)
      expect(statuses.filter(status => status < 400 || status >= 500)).toEqual([])
    })

    test('* is 400, also where it is asked for its options', async () => {
      const answers = ['GET', 'OPTIONS'].map(method => send(`${method} * ${head}`))
      expect(await Promise.all(answers)).toEqual([[400], [400]])
    })
  })

  test('a target in absolute form is its path', async () => {
    for (const target of ['http://a/health', 'HTTPS://a:8080/health?x=1'])
      expect(await send(`GET ${target} ${head}`)).toEqual([200])
  })

  describe('headers and framing that make no sense', () => {
    test.each([
      ['a negative length', 'Content-Length: -1\r\n\r\n'],
      ['two lengths', 'Content-Length: 1\r\nContent-Length: 2\r\n\r\n'],
      ['a length that no number holds', 'Content-Length: 99999999999999999999\r\n\r\n'],
      ['a length and chunks', 'Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n'],
      ['a chunk without a size', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n'],
      [
        'a chunk of 300 KB',
        `Transfer-Encoding: chunked\r\n\r\n${(300_000).toString(16)}\r\n${'x'.repeat(300_000)}`,
      ],
      ['an unknown transfer encoding', 'Transfer-Encoding: gzip\r\n\r\n'],
      ['an unknown expectation', 'Expect: miracles\r\nContent-Length: 0\r\n\r\n'],
      ['a header of 300 KB', `X: ${'x'.repeat(300_000)}\r\n\r\n`],
      ['a NUL in a header', 'X: \0\r\n\r\n'],
      ['a header without a name', ': x\r\n\r\n'],
      ['another host twice', 'Host: b\r\n\r\n'],
      [
        'weights that are no numbers',
        'Accept: ;;;\r\nAccept-Encoding: ;q=x,*;q=9\r\nContent-Length: 0\r\n\r\n',
      ],
      ['a body that is not UTF-8', 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n"\xff'],
      [
        'an encoding of the body',
        'Content-Type: application/json\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\n1',
      ],
      ['another protocol', 'Upgrade: websocket\r\nConnection: Upgrade\r\nContent-Length: 0\r\n\r\n'],
    ])('%s gets a 4xx', async (_, rest) => {
      const statuses = await send(
        `POST /api/endpoints/query/logs.all HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${rest}`,
      )
      expect(statuses).toHaveLength(1)
      expect(statuses[0]).toBeGreaterThanOrEqual(400)
      expect(statuses[0]).toBeLessThan(500)
    })
  })

  const whole = [
    'POST /api/endpoints/query/logs.all?project=a HTTP/1.1\r\nHost: a\r\nX-API-KEY: lqe_a_b\r\n',
    'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n',
    '11\r\n{"sql":"SELECT 1"\r\n1\r\n}\r\n0\r\n\r\n',
  ].join('')

  test.each(['end', 'leave'] as const)('a client may %s at every byte of a request', async after => {
    const cuts = Array.from({ length: whole.length }, (_, length) => whole.slice(0, length))
    const statuses = (await Promise.all(cuts.map(part => send(part, after)))).flat()
    expect(statuses.filter(status => status >= 500)).toEqual([])
  })

  test('requests behind each other are answered in order, up to one that cannot be read', async () => {
    const health = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n'
    const star = 'GET * HTTP/1.1\r\nHost: a\r\n\r\n'
    expect(await send(health + star + `GET /health ${head}`)).toEqual([200, 400, 200])
    expect((await send(`${health}nonsense\r\n\r\n${health}`)).at(-1)).toBe(400)
  })

  test('no other bytes get a 5xx: requests with parts taken out, put in and repeated', async () => {
    const part = fc.constantFrom(
      '\r\n',
      '\n',
      '\0',
      ':',
      ' ',
      '/',
      '%',
      '*',
      '?',
      '\xff',
      'HTTP/1.1',
      '0',
      'chunked',
    )
    const edit = fc.record({
      at: fc.nat(whole.length),
      cut: fc.nat(8),
      put: fc.array(part, { maxLength: 3 }),
    })
    const damaged = fc
      .array(edit, { minLength: 1, maxLength: 4 })
      .map(edits =>
        edits.reduce(
          (text, { at, cut, put }) => text.slice(0, at) + put.join('') + text.slice(at + cut),
          whole,
        ),
      )
    await fc.assert(
      fc.asyncProperty(fc.array(damaged, { minLength: 20, maxLength: 20 }), async requests => {
        const statuses = (await Promise.all(requests.map(text => send(text, 'end')))).flat()
        expect(statuses.filter(status => status >= 500)).toEqual([])
      }),
      { numRuns: 20, endOnFailure: true },
    )
  })
})

/**
 * What callers send, sent to one process: values, rows, bodies and SQL with a mark, which its log is searched for, and a whole
 * API key in places that are not for it, which neither an error nor a log line gives back.
 */
describe('what callers send', () => {
  const folder = mkdtempSync(join(tmpdir(), 'secrets-'))
  const parts = makeKey()
  const misplaced = writeKey(parts)
  let key: string
  let server: FunctionProcess

  /** What came back, by where the misplaced key was. */
  const answers: [where: string, answer: string][] = []

  beforeAll(async () => {
    const config = loadConfig({ DATA_DIR: folder, ENGINE_PROCESSES: '0' })
    const folders = { logsFolder: join(folder, 'logs'), tablesFolder: config.tablesDir }
    await writeSample({ ...folders, now: new Date(), rows: 300 })
    const services = await openServices(config)
    await apply(services, { queries: 'queries', dryRun: false, out: () => {} })
    const grant = { name: 'canary-name', endpoints: '*' as const, pins: {}, rights: [], expiresAt: null }
    ;({ key } = await issueKey(services.store, grant))
    await services.close()
    server = await startFunction('query', { env: { DATA_DIR: folder } })
    for (const [path, init] of marked) await ask(path, init)
    await ask(logs, { headers: { 'X-API-KEY': `${key}canary-key` } })
    await misplaceKeys()
    await sleep(100)
    server.child.kill('SIGTERM')
    await once(server.child, 'exit')
  })

  afterAll(() => {
    server.child.kill()
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  })

  const query = '/api/endpoints/query'
  const logs = `${query}/logs.all?project=a`
  const sql = (text: string) => `${logs}&sql=${encodeURIComponent(text)}`

  const paths = [
    `${query}/${misplaced}`,
    `${query}/${misplaced}?project=a`,
    `${query}/${misplaced.replaceAll('_', '%5f')}`,
    `${query}/${misplaced}%ff`,
    `/${misplaced}`,
    `/api/endpoints/${misplaced}/tables`,
    `/explorer/${misplaced}`,
    `${logs}&${misplaced}=1`,
    `${logs}&x${misplaced}=1`,
    `${query}/logs.all?project=a&project=${misplaced}`,
    `${query}/logs.all?iso_timestamp_start=${misplaced}`,
    `${query}/logs.all?project=a&format=${misplaced}`,
    `${query}/usage.api-counts?project=a&interval=${misplaced}`,
    `${logs}&cursor=${misplaced}`,
    `${logs}&limit=${misplaced}`,
    sql(misplaced),
    sql(`SELECT ${misplaced}`),
    sql(`SELECT ${misplaced} FROM edge_logs`),
    sql(`SELECT id FROM ${misplaced}`),
    sql(`SELECT ${misplaced}(id) FROM edge_logs`),
    sql(`SELECT id FROM edge_logs WHERE id = @${misplaced}`),
    sql(`SELECT id ${misplaced} ${misplaced} FROM edge_logs`),
    sql(`SELECT t.${misplaced} FROM edge_logs AS t`),
    sql(`SELECT CAST('${misplaced}' AS INT64)`),
    sql(`SELECT CAST(id AS ${misplaced}) FROM edge_logs`),
    sql(`SELECT PARSE_JSON('${misplaced}')`),
    sql(`SELECT '${misplaced}`),
    sql(`SELECT TIMESTAMP '${misplaced}'`),
    sql(`SELECT REGEXP_CONTAINS(id, '(${misplaced}') FROM edge_logs`),
  ]

  const headers = [
    'X-API-KEY',
    'Authorization',
    'Accept',
    'Accept-Encoding',
    'Content-Type',
    'Origin',
    'SVC-ENDPOINT-VERSION',
    'SVC-ENDPOINT-REDACT-PII',
    'SVC-ENDPOINT-LABELS',
    'LF-ENDPOINT-LABELS',
    'If-None-Match',
    'traceparent',
    'MCP-Protocol-Version',
    'MCP-Session-Id',
    misplaced,
  ]

  const calls: [method: string, params: unknown][] = [
    [misplaced, {}],
    ['tools/call', { name: misplaced, arguments: {} }],
    ['tools/call', { name: misplaced }],
    ['tools/call', { name: { a: misplaced } }],
    ['tools/call', { name: 'logs_all', arguments: misplaced }],
    ['tools/call', { name: 'logs_all', arguments: { project: [misplaced] } }],
    ['tools/call', { name: 'logs_all', arguments: { project: 'a', [misplaced]: 1, [`x${misplaced}`]: 1 } }],
    ['tools/call', { name: 'logs_all', arguments: { project: 'a', cursor: misplaced } }],
    ['tools/call', { name: 'logs_all', arguments: { project: 'a', iso_timestamp_start: misplaced } }],
    ['tools/call', { name: 'query_logs_all', arguments: { project: 'a', sql: `SELECT ${misplaced}` } }],
    [
      'tools/call',
      { name: 'query_logs_all', arguments: { project: 'a', sql: `SELECT a FROM ${misplaced}` } },
    ],
    ['tools/call', { name: 'query_logs_all', arguments: { project: 'a', sql: { a: misplaced } } }],
    ['resources/read', { uri: `lqe://${misplaced}/edge_logs` }],
    ['resources/read', { uri: misplaced }],
    ['resources/read', { uri: [misplaced] }],
    ['prompts/get', { name: misplaced }],
    ['prompts/get', { name: 'investigate', arguments: { [misplaced]: 1 } }],
    ['tools/list', { cursor: [misplaced] }],
    ['initialize', { protocolVersion: misplaced, capabilities: misplaced, clientInfo: misplaced }],
  ]

  const json = 'application/json'

  const marked: [path: string, init?: RequestInit][] = [
    [`${query}/logs.all?project=canary-value`],
    [`${query}/logs.all?project=canary-value&iso_timestamp_start=canary-time`],
    [`${query}/usage.api-counts?interval=daily&project=canary-value(`],
    [`${query}/usage.api-counts?interval=canary-interval&project=.`],
    [`${query}/logs.all?project=qhzvnxwtrkdplmcoyaeb`],
    [sql("SELECT 'canary-sql' FROM nowhere")],
    [sql("SELECT CAST('canary-sql' AS INT64)")],
    [`${query}/canary-endpoint?project=a`],
    ['/canary-path/%ff'],
    ['/canary-path'],
    [logs, { method: 'POST', headers: { 'Content-Type': json }, body: '{"sql": "canary-body' }],
    [logs, { method: 'POST', headers: { 'Content-Type': json }, body: '{"sql": "canary-body"}' }],
    [logs, { headers: { 'SVC-ENDPOINT-REDACT-PII': 'canary-header' } }],
  ]

  async function ask(path: string, init: RequestInit = {}): Promise<string> {
    const response = await fetch(server.url + path, {
      ...init,
      headers: { 'X-API-KEY': key, ...(init.headers as Record<string, string>) },
    })
    return [...response.headers, await response.text()].join('\n')
  }

  async function misplaceKeys(): Promise<void> {
    for (const path of paths) answers.push([path, await ask(path)])
    const post = (path: string, text: string, more = {}) =>
      ask(path, { method: 'POST', body: text, headers: { 'Content-Type': json, ...more } })
    for (const body of [misplaced, JSON.stringify({ sql: misplaced }), JSON.stringify({ [misplaced]: 1 })])
      answers.push([body, await post(logs, body)])
    for (const name of headers) {
      const sent = { [name]: misplaced }
      answers.push([`header ${name}`, await ask(logs, { headers: sent })])
      const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
      answers.push([
        `MCP header ${name}`,
        await post('/mcp', list, { Accept: `${json}, text/event-stream`, ...sent }),
      ])
    }
    for (const version of ['2025-06-18', '2026-07-28'])
      for (const [method, params] of calls) {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
        const more = { Accept: `${json}, text/event-stream`, 'MCP-Protocol-Version': version }
        answers.push([`${version} ${method} ${JSON.stringify(params)}`, await post('/mcp', body, more)])
      }
    answers.push(['MCP body', await post('/mcp', misplaced, { Accept: `${json}, text/event-stream` })])
  }

  test('no key, value, row, body or caller’s SQL is ever logged', () => {
    const lines = server
      .output()
      .split('\n')
      .filter(line => line.startsWith('{'))
    expect(lines.length).toBeGreaterThan(marked.length + answers.length)
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty('severity')
    expect(server.output()).not.toContain('canary')
    expect(server.output()).not.toContain(key.slice(-20))
    expect(server.output()).not.toContain('qhzvnxwtrkdplmcoyaeb')
    expect(server.output()).not.toMatch(/203\.0\.113|198\.51\.100|2001:db8/)
  })

  test('a key in the wrong place comes back in no answer and in no log line', () => {
    const secret = parts.secret.slice(0, 12)
    expect(answers.filter(([, answer]) => answer.includes(secret))).toEqual([])
    expect(server.output()).not.toContain(secret)
    expect(server.output()).toContain('"message":"request"')
  })
})
