/** A caller's SQL through the sandbox, and the load of the SQL front end. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { sandbox } from '../../../shared/sandbox/sandbox.ts'
import { bundle } from '../../deploy/build.ts'
import { alternately, bounded, cpuOfThis, type Measurement } from '../measure.ts'
import { endpointNamed, type Site } from '../site.ts'

const rounds = 21
const times = 50

/** A query of a dashboard: errors at the edge by path, over the last day. */
const dashboard = `
  select cast(timestamp_trunc(t.timestamp, hour) as datetime) as timestamp, request.path, response.status_code,
    count(t.id) as count, approx_quantiles(response.origin_time, 100)[offset(95)] as slowest
  from edge_logs t
    cross join unnest(metadata) as m
    cross join unnest(m.request) as request
    cross join unnest(m.response) as response
    cross join unnest(request.headers) as headers
  where t.timestamp > timestamp_sub(current_timestamp(), interval 1 day)
    and response.status_code >= 400 and regexp_contains(request.path, '^/(rest|auth)/v1/')
    and (headers.user_agent is null or lower(headers.user_agent) not like '%bot%')
  group by 1, 2, 3
  having count(t.id) > 1
  order by count desc, timestamp
  limit 100`

/** Against fixed bounds in milliseconds of CPU: nothing else does the same work. */
export async function sandboxing(site: Site): Promise<Measurement[]> {
  const endpoint = await endpointNamed(site, 'logs.all')
  const compose = async () =>
    (await cpuOfThis(() => {
      for (let time = 0; time < times; time++) sandbox(endpoint, dashboard)
    })) / times
  const { compose: numbers } = await alternately(rounds, { compose }, 10)
  const file = join(site.folder, 'front-end.js')
  await bundle('shared/sandbox/sandbox.ts', file)
  const { loading } = await alternately(rounds, { loading: () => cpuOfLoading(file) })
  return [
    bounded('a dashboard query: parsed, checked, composed, warm', { numbers, unit: 'ms CPU', bound: 5 }),
    bounded('loading the SQL front end from its bundle', { numbers: loading, unit: 'ms CPU', bound: 30 }),
  ]
}

/** In a fresh process. */
function cpuOfLoading(file: string): number {
  const program = `const before = process.cpuUsage(); require(${JSON.stringify(file)})
    const { user, system } = process.cpuUsage(before); console.log((user + system) / 1000)`
  return Number(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' }))
}
