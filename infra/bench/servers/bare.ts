/** A bare function of the framework, which sends the bytes of a file, or `hello`. */
import { readFileSync } from 'node:fs'
import { http } from '@google-cloud/functions-framework'

const file = process.env['BODY_FILE']
const body = file ? readFileSync(file) : Buffer.from('hello')
const headers = {
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': body.length,
  ...(file?.endsWith('.gz') ? { 'Content-Encoding': 'gzip' } : {}),
}

http('bare', (_, res) => {
  res.writeHead(200, headers)
  res.end(body)
})
