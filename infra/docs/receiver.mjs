/** A receiver of alerts on this machine, for `infra/docs/alerts.md`: prints each message once, where HOOK_SECRET signed it. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

const key = Buffer.from(process.env.HOOK_SECRET.replace('whsec_', ''), 'base64')
const sign = text => Buffer.from(`v1,${createHmac('sha256', key).update(text).digest('base64')}`)
const seen = new Set()
async function receive(request, response) {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': all = '' } = request.headers
  const body = await text(request).catch(() => '')
  const ours = sign([id, time, body].join('.'))
  const given = all.split(' ').map(one => Buffer.from(one))
  const isSigned = given.some(one => one.length === ours.length && timingSafeEqual(one, ours))
  if (!isSigned || !(Math.abs(Date.now() / 1000 - time) < 300)) return response.writeHead(401).end()
  const { type, data } = JSON.parse(body)
  if (!seen.has(id)) console.log(`${type}: ${data.text}`)
  seen.add(id)
  response.writeHead(204).end()
}
createServer((request, response) => void receive(request, response)).listen(9000, '127.0.0.1')
