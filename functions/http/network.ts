import type { IncomingMessage } from 'node:http'

/**
 * From where a request comes, to count those of one client: its IPv4 address, or its network of IPv6, of which one client has
 * every address.
 * @param isOnCloudRun there the last address in X-Forwarded-For is the client's, and any before it are as the client sent them
 */
export function networkOf(
  { headers, socket }: Pick<IncomingMessage, 'headers'> & { socket: { remoteAddress?: string | undefined } },
  isOnCloudRun: boolean,
): string {
  const forwarded = isOnCloudRun ? String(headers['x-forwarded-for'] ?? '') : ''
  const address = forwarded.split(',').at(-1)!.trim() || (socket.remoteAddress ?? '')
  if (address.includes('.')) return address
  const [beginning = ''] = address.split('::')
  return [...beginning.split(':'), '0', '0', '0', '0'].slice(0, 4).join(':')
}

/**
 * Whether a program or page of this machine made the request: not a page of another site in its browser, nor a proxy that runs
 * here.
 */
export function isFromHere({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): boolean {
  const isProxied = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'via'].some(name => name in headers)
  const isLoopback = /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/.test(socket.remoteAddress ?? '')
  return isLoopback && !isProxied && isLocal(hostnameOf(headers.host)) && hasOwnOrigin(headers.origin)
}

function hasOwnOrigin(origin: string | undefined): boolean {
  return origin === undefined || (URL.canParse(origin) && isLocal(new URL(origin).hostname))
}

/** Of a Host header, without its port. */
export function hostnameOf(host = ''): string {
  return host.replace(/:\d+$/, '')
}

export function isLocal(hostname = ''): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}
