/** Rows of edge logs for tests, with personal data where real ones have it. */
export interface EdgeRow {
  id: string
  timestamp: string
  project: string
  event_message: string
  metadata: {
    request: { method: string; path: string; url: string; host: string; headers: Record<string, string> }
    response: { status_code: number }
  }
}

/** @param timestamp ISO 8601 */
export function edgeRow(id: string, timestamp: string, ref: string, path: string): EdgeRow {
  const host = `${ref}.example.co`
  const request = { method: 'GET', path, url: `https://${host}${path}`, host }
  return {
    id,
    timestamp,
    project: ref,
    event_message: `GET | 200 | 203.0.113.7 | ${path}`,
    metadata: {
      request: { ...request, headers: { cf_connecting_ip: '203.0.113.7' } },
      response: { status_code: 200 },
    },
  }
}
