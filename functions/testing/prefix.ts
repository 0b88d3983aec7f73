/** The service behind a path, as `https://REGION-PROJECT.cloudfunctions.net/query` has it: the service never sees the path. */
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** @returns the address with the prefix, without a slash at its end */
export async function serveBehind(
  prefix: string,
  target: string,
): Promise<{ url: string; stop(): Promise<void> }> {
  const proxy = createServer((req, res) => {
    const [, path] = new RegExp(`^${prefix}(?=[/?]|$)(.*)$`).exec(req.url ?? '') ?? []
    if (path === undefined) return void res.writeHead(404).end('another function')
    const { method, headers } = req
    const url = target + (path.startsWith('/') ? path : `/${path}`)
    const forwarded = request(url, { method, headers, agent: false }, answer => {
      res.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(res)
    })
    forwarded.on('error', () => res.destroy())
    req.pipe(forwarded)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${prefix}`
  return {
    url,
    async stop() {
      proxy.closeAllConnections()
      await new Promise(resolve => proxy.close(resolve))
    },
  }
}
