/** The table of requests at the edge, the one that web server logs can be loaded into. */
export const edgeTable = 'cloudflare.logs.prod'

/** What the one-line message of an edge entry is made of; what is not known is `null`. */
export interface EdgeMessage {
  method: string | null
  status: number | null
  client: string | null
  ray: string | null
  url: string | null
  agent: string | null
}

/** @returns such as `GET | 200 | 203.0.113.9 | - | https://example.com/ | curl/8.5.0` */
export function edgeMessage({ method, status, client, ray, url, agent }: EdgeMessage): string {
  return [method, status, client, ray, url, agent].map(part => part ?? '-').join(' | ')
}
