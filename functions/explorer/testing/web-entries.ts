/** Entries of a web server as the logs view is tried with. */
import { type EdgeRow, edgeRow } from '../../testing/edges.ts'

/** The example of the parameter. */
export const project = 'qhzvnxwtrkdplmcoyaeb'

/** @param at milliseconds since 1970 */
export function webEntry(i: number, at: number, status: number): object {
  const path = `/rest/v1/items/${i % 3}`
  const time = new Date(at).toISOString().replace('Z', '123Z') // microseconds
  const row: EdgeRow = edgeRow(`entry-${String(i).padStart(4, '0')}`, time, project, path)
  const agent = i === 0 ? {} : { user_agent: `agent ${i % 20}` }
  const headers = { ...row.metadata.request.headers, ...agent }
  const response = { status_code: status, origin_time: i % 3 === 2 ? 900 + i : 10 }
  return {
    ...row,
    event_message: `GET | ${status} | 203.0.113.7 | ${path}`,
    metadata: { request: { ...row.metadata.request, headers }, response },
  }
}
