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
