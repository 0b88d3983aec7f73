/** The bytes that the bare servers send: those of a file, or `hello`. */
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'

const file = process.env['BODY_FILE']
const body = file ? readFileSync(file) : Buffer.from('hello')
const headers = {
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': body.length,
  ...(file?.endsWith('.gz') ? { 'Content-Encoding': 'gzip' } : {}),
}

/** A handler for `node:http` and for a function; the request's method, path and Accept-Encoding change nothing. */
export function sendBytes(_: unknown, res: ServerResponse): void {
  res.writeHead(200, headers)
  res.end(body)
}
