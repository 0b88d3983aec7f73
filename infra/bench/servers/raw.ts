/** The same bytes from `node:http` alone. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const file = process.env['BODY_FILE'] ?? ''
const body = readFileSync(file)
const headers = {
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': body.length,
  ...(file.endsWith('.gz') ? { 'Content-Encoding': 'gzip' } : {}),
}

createServer((_, res) => {
  res.writeHead(200, headers)
  res.end(body)
}).listen(Number(process.env['PORT']), '127.0.0.1')
