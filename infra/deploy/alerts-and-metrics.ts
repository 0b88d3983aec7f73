/**
 * What is watched, as Cloud Logging and Cloud Monitoring take it: metrics of log lines, an uptime check, a dashboard and alert
 * policies. `monitoring.ts` brings a project to it.
 */
import type { Json } from './google-api.ts'
import { type FunctionName, namesIn, type Site } from './settings.ts'

interface Condition extends Json {
  displayName: string
  name?: string
}

export interface Policy extends Json {
  displayName: string
  conditions: Condition[]
  notificationChannels?: string[]
}

const userLabels = { service: 'lqe' } // by which a removal finds them

const revision = 'resource.type="cloud_run_revision"'
const query = `${revision} AND resource.labels.service_name="query"`
const warm = `${revision} AND resource.labels.service_name="warm"`
const both = `${revision} AND (resource.labels.service_name="query" OR resource.labels.service_name="warm")`
const requests = `${query} AND metric.type="run.googleapis.com/request_count"`
const own = (metric: string) => `${revision} AND metric.type="logging.googleapis.com/user/${metric}"`
/** Of Managed Service for Prometheus: Cloud Monitoring's own filters have no sum of a distribution. */
const bytesInAnHour =
  'increase(logging_googleapis_com:user_lqe_bytes_sum{monitored_resource="cloud_run_revision"}[1h])'

/** Counts lines by fields of theirs, or, as a distribution, takes the field `value` of each. */
function metric(description: string, filter: string, labels: string[], value?: string): Json {
  const extract = (field: string) => `EXTRACT(jsonPayload.${field})`
  const kind = value ? { valueType: 'DISTRIBUTION', unit: 'By' } : { valueType: 'INT64', unit: '1' }
  const exponentialBuckets = { numFiniteBuckets: 16, growthFactor: 4, scale: 1_048_576 }
  return {
    description,
    filter,
    metricDescriptor: { metricKind: 'DELTA', ...kind, labels: labels.map(key => ({ key })) },
    labelExtractors: Object.fromEntries(labels.map(label => [label, extract(label)])),
    ...(value ? { valueExtractor: extract(value), bucketOptions: { exponentialBuckets } } : {}),
  }
}

export const metrics: Record<string, Json> = {
  lqe_answers: metric(
    "Answers of query's endpoints, by what the cache did.",
    `${query} AND jsonPayload.message="request" AND jsonPayload.cache:*`,
    ['cache', 'endpoint'],
  ),
  lqe_bytes: metric(
    'Bytes that BigQuery read, for each request or call of warm that had it run.',
    `${both} AND (jsonPayload.message="request" OR jsonPayload.message="warm") AND jsonPayload.bytes>0`,
    ['endpoint'],
    'bytes',
  ),
  lqe_store_failures: metric(
    'Calls of the store that failed, and requests answered 503 for it.',
    `${both} AND (jsonPayload.message="the store failed" OR jsonPayload.error="store_unavailable")`,
    ['reason'],
  ),
  lqe_warmed: metric(
    'Calls of warm after which no answer of the endpoint has failed.',
    `${warm} AND jsonPayload.message="warm" AND jsonPayload.status=200 AND jsonPayload.failed=0`,
    ['endpoint'],
  ),
}

/** Each minute from three regions; the address needs no key. @param host of the function `query` */
function uptimeCheck(project: string, host: string) {
  return {
    displayName: 'lqe-query',
    userLabels,
    monitoredResource: { type: 'uptime_url', labels: { host, project_id: project } },
    httpCheck: {
      path: '/query/health',
      port: 443,
      useSsl: true,
      validateSsl: true,
      acceptedResponseStatusCodes: [{ statusClass: 'STATUS_CLASS_2XX' }],
    },
    period: '60s',
    timeout: '10s',
    selectedRegions: ['EUROPE', 'USA_VIRGINIA', 'ASIA_PACIFIC'],
  }
}

/** How the values of one series become a point every so many seconds, how the points of all do, and the label that keeps them apart. */
interface How {
  seconds?: number
  aligner?: string
  reducer?: string
  by?: string
}

function aggregation({ seconds = 60, aligner = 'ALIGN_DELTA', reducer = 'REDUCE_SUM', by }: How): Json {
  const how = { alignmentPeriod: `${seconds}s`, perSeriesAligner: aligner, crossSeriesReducer: reducer }
  return { ...how, ...(by ? { groupByFields: [by] } : {}) }
}

function line(filter: string, how: How): Json {
  return { timeSeriesFilter: { filter, aggregation: aggregation(how) } }
}

/** Named by the project's id, where Google's answers have its number. */
export function dashboard(project: string): Json & { name: string } {
  const latencies = `${query} AND metric.type="run.googleapis.com/request_latencies"`
  const instances = `${both} AND metric.type="run.googleapis.com/container/instance_count"`
  const memory = `${query} AND metric.type="run.googleapis.com/container/memory/utilizations"`
  const [p50, p99] = [{ reducer: 'REDUCE_PERCENTILE_50' }, { reducer: 'REDUCE_PERCENTILE_99' }]
  const charts: Record<string, Json[]> = {
    'Requests by class of status': [line(requests, { by: 'metric.label.response_code_class' })],
    'Latency of query, 50th and 99th percentile (ms)': [line(latencies, p50), line(latencies, p99)],
    'Answers by what the cache did': [line(own('lqe_answers'), { by: 'metric.label.cache' })],
    'Successful calls of warm by endpoint': [line(own('lqe_warmed'), { by: 'metric.label.endpoint' })],
    'Bytes in the last hour, by service': [{ prometheusQuery: `sum by (service_name) (${bytesInAnHour})` }],
    'Failures of the store by reason': [line(own('lqe_store_failures'), { by: 'metric.label.reason' })],
    Instances: [line(instances, { aligner: 'ALIGN_MAX', by: 'resource.label.service_name' })],
    'Memory of an instance, 99th percentile (share of the limit)': [line(memory, p99)],
  }
  const widgets = Object.entries(charts).map(([title, lines]) => {
    const dataSets = lines.map(timeSeriesQuery => ({ timeSeriesQuery, plotType: 'LINE' }))
    return { title, xyChart: { dataSets } }
  })
  const gridLayout = { columns: '2', widgets }
  return { name: `projects/${project}/dashboards/lqe`, displayName: 'Log query endpoints', gridLayout }
}

/** The sum of a series, or its ratio to that of the filter `per`, is over a threshold for `duration` seconds. */
function over(
  displayName: string,
  thresholdValue: number,
  filter: string,
  { per, duration = 0, ...how }: How & { per?: string; duration?: number },
): Condition {
  const aggregations = [aggregation(how)]
  const ratio = per ? { denominatorFilter: per, denominatorAggregations: aggregations } : {}
  const compared = { comparison: 'COMPARISON_GT', thresholdValue, duration: `${duration}s` }
  return { displayName, conditionThreshold: { filter, aggregations, ...ratio, ...compared } }
}

const hour = 3600

/** Multiples of the failures that an objective of 99.5 % allows: Site Reliability Workbook, "Alerting on SLOs". */
function burnRate(threshold: number, long: [string, number], short: [string, number]): Condition[] {
  const failed = `${requests} AND metric.labels.response_code_class="5xx"`
  return [
    ...[long, short].map(([time, seconds]) =>
      over(`5xx in ${time}`, threshold, failed, { per: requests, seconds }),
    ),
    over(`More than 5 in ${long[0]}`, 5, failed, { seconds: long[1] }),
  ]
}

/** None for so long, as no line at all and as a count below one: a series that has ended is absent, and has no count. */
function noneIn15Minutes(filter: string, by: string): Condition[] {
  const absent = { filter, aggregations: [aggregation({ by })], duration: '900s' }
  const few = { comparison: 'COMPARISON_LT', thresholdValue: 1, duration: '0s' }
  const counted = { filter, aggregations: [aggregation({ seconds: 900, by })], ...few }
  return [
    { displayName: 'No line of a successful call for 15 minutes', conditionAbsent: absent },
    { displayName: 'No successful call counted in 15 minutes', conditionThreshold: counted },
  ]
}

type Row = [
  title: string,
  severity: 'CRITICAL' | 'WARNING',
  explanation: string,
  Condition[],
  more?: { combiner: 'AND'; section?: string },
]

/**
 * Each says in its text what its threshold means, and which section of infra/docs/operating.md to read: by default that of its name.
 * @param check id of the uptime check, which Google gives
 */
export function policies(check: string): Policy[] {
  const answers = (...kinds: string[]) =>
    `${own('lqe_answers')} AND metric.labels.cache=one_of(${kinds.map(kind => `"${kind}"`).join()})`
  const cacheable = answers('hit', 'stale', 'miss', 'revalidated', 'collapsed')
  const isUp = `resource.type="uptime_url" AND metric.labels.check_id="${check}" AND metric.type="monitoring.googleapis.com/uptime_check/check_passed"`
  const failing = { seconds: 300, aligner: 'ALIGN_NEXT_OLDER', reducer: 'REDUCE_COUNT_FALSE', duration: 120 }
  const bytes = { query: `sum(${bytesInAnHour}) > ${2 ** 40}`, duration: '0s', evaluationInterval: '60s' }
  const all = { combiner: 'AND' } as const
  const burning = { ...all, section: '5xx burn rate' }
  const rows: Row[] = [
    [
      '5xx burn rate, fast',
      'CRITICAL',
      "Of the calls of query more than 7.2 % were answered 5xx, for an hour and for 5 minutes: 14.4 times what an objective of 99.5 % allows, 2 % of a month's errors in an hour.",
      burnRate(0.072, ['an hour', hour], ['5 minutes', 300]),
      burning,
    ],
    [
      '5xx burn rate, slow',
      'WARNING',
      "Of the calls of query more than 3 % were answered 5xx, for 6 hours and for 30 minutes: 6 times what an objective of 99.5 % allows, 5 % of a month's errors in 6 hours.",
      burnRate(0.03, ['6 hours', 6 * hour], ['30 minutes', 1800]),
      burning,
    ],
    [
      'Bytes an hour',
      'WARNING',
      'Queries of the service have read more than 1 TiB in the last hour.',
      [{ displayName: 'More than 1 TiB in an hour', conditionPrometheusQueryLanguage: bytes }],
    ],
    [
      'Misses and refreshes ratio',
      'WARNING',
      'For more than half of the calls that the cache could have answered in the last hour a reader waited for a run.',
      [
        over('Misses and refreshes', 0.5, answers('miss', 'revalidated'), {
          per: cacheable,
          seconds: hour,
          duration: 900,
        }),
        over('More than 100 calls', 100, cacheable, { seconds: hour }),
      ],
      all,
    ],
    [
      'Store unavailable',
      'CRITICAL',
      'Firestore fails or refuses. Known keys get the answers that instances have in memory for five minutes.',
      [over('More than 5 failures in 5 minutes', 5, own('lqe_store_failures'), { seconds: 300 })],
    ],
    [
      'Query does not answer',
      'CRITICAL',
      "At least two of the places that Google checks from get no answer of query's /health.",
      [over('The uptime check fails', 1, isUp, failing)],
    ],
    [
      'No successful warm for 15 minutes',
      'WARNING',
      'An endpoint that is kept warm has had no call of warm without failures for 15 minutes. Readers still get answers.',
      noneIn15Minutes(own('lqe_warmed'), 'metric.label.endpoint'),
    ],
  ]
  return rows.map(([displayName, severity, explanation, conditions, { section, ...more } = {}]) => {
    const content = `${explanation} What to look at, in order: infra/docs/operating.md, "${section ?? displayName}".`
    const documentation = { mimeType: 'text/markdown', content }
    return { displayName, userLabels, severity, combiner: 'OR', conditions, documentation, ...more }
  })
}

/**
 * All of it for an installation: one with a prefix has names of its own, in filters as in titles.
 * @param site the deployment's settings
 * @param check id of the uptime check, for the policies
 */
export function watched(site: Pick<Site, 'project' | 'region' | 'prefix'>, check = '') {
  const { address, own: named, functionName } = namesIn(site)
  const all = {
    metrics,
    uptimeCheck: uptimeCheck(site.project, new URL(address('query')).host),
    dashboard: dashboard(site.project),
    policies: policies(check),
  }
  if (!site.prefix) return all
  const renamed = JSON.stringify(all)
    .replaceAll(
      /service_name=\\"(query|warm)\\"/g,
      (_, name: FunctionName) => `service_name=\\"${functionName(name)}\\"`,
    )
    .replaceAll(/lqe_(?=answers|bytes|store|warmed)/g, `${site.prefix}_`)
    .replaceAll('"/query/health"', `"/${functionName('query')}/health"`)
    .replaceAll('"lqe-query"', `"${named('query')}"`)
    .replaceAll('/dashboards/lqe"', `/dashboards/${site.prefix}"`)
    .replaceAll('"service":"lqe"', `"service":"${site.prefix}"`)
  const mine = JSON.parse(renamed) as typeof all
  for (const one of [mine.dashboard, ...mine.policies])
    one['displayName'] = `${site.prefix}: ${String(one['displayName'])}`
  return mine
}
