/**
 * What is watched, as Cloud Logging and Cloud Monitoring take it: metrics of log lines, an uptime check, a dashboard and alert
 * policies. `monitoring.ts` brings a project to it.
 */
import type { Json } from './google-api.ts'
import { functionNames, namesIn, type Site } from './settings.ts'

interface Condition extends Json {
  displayName: string
  name?: string
}

export interface Policy extends Json {
  displayName: string
  conditions: Condition[]
  notificationChannels?: string[]
}

/** What an installation calls its own in filters; one with a prefix has other names. */
function namesOf(site: Pick<Site, 'project' | 'region' | 'prefix'>) {
  const { functionName } = namesIn(site)
  const name = site.prefix || 'lqe'
  const revision = 'resource.type="cloud_run_revision"'
  const [query, warm] = functionNames.map(one => `resource.labels.service_name="${functionName(one)}"`)
  const own = (metric: string) =>
    `${revision} AND metric.type="logging.googleapis.com/user/${name}_${metric}"`
  return {
    name,
    title: (words: string) => (site.prefix ? `${name}: ${words}` : words),
    userLabels: { service: name }, // by which a removal finds them
    query: `${revision} AND ${query!}`,
    warm: `${revision} AND ${warm!}`,
    both: `${revision} AND (${query!} OR ${warm!})`,
    requests: `${revision} AND ${query!} AND metric.type="run.googleapis.com/request_count"`,
    isUp: (check: string) =>
      `resource.type="uptime_url" AND metric.labels.check_id="${check}" AND metric.type="monitoring.googleapis.com/uptime_check/check_passed"`,
    own,
    /** Of Managed Service for Prometheus: Cloud Monitoring's own filters have no sum of a distribution. */
    bytesInAnHour: `increase(logging_googleapis_com:user_${name}_bytes_sum{monitored_resource="cloud_run_revision"}[1h])`,
  }
}

type Names = ReturnType<typeof namesOf>

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

function metricsOf({ name, query, warm, both }: Names): Record<string, Json> {
  return {
    [`${name}_answers`]: metric(
      "Answers of query's endpoints, by what the cache did.",
      `${query} AND jsonPayload.message="request" AND jsonPayload.cache:*`,
      ['cache', 'endpoint'],
    ),
    [`${name}_bytes`]: metric(
      'Bytes that BigQuery read, for each request or call of warm that had it run.',
      `${both} AND (jsonPayload.message="request" OR jsonPayload.message="warm") AND jsonPayload.bytes>0`,
      ['endpoint'],
      'bytes',
    ),
    [`${name}_store_failures`]: metric(
      'Calls of the store that failed, and requests answered 503 for it.',
      `${both} AND (jsonPayload.message="the store failed" OR jsonPayload.error="store_unavailable")`,
      ['reason'],
    ),
    [`${name}_warmed`]: metric(
      'Calls of warm after which no answer of the endpoint has failed.',
      `${warm} AND jsonPayload.message="warm" AND jsonPayload.status=200 AND jsonPayload.failed=0`,
      ['endpoint'],
    ),
  }
}

/** Each minute from three regions; the address needs no key. */
function uptimeCheckOf(site: Pick<Site, 'project' | 'region' | 'prefix'>, { userLabels }: Names) {
  const { address, own } = namesIn(site)
  const { host, pathname } = new URL(address('query'))
  return {
    displayName: own('query'),
    userLabels,
    monitoredResource: { type: 'uptime_url', labels: { host, project_id: site.project } },
    httpCheck: {
      path: `${pathname}/health`,
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
function dashboardOf(project: string, names: Names): Json & { name: string } {
  const { name, title, query, both, requests, own, bytesInAnHour } = names
  const latencies = `${query} AND metric.type="run.googleapis.com/request_latencies"`
  const instances = `${both} AND metric.type="run.googleapis.com/container/instance_count"`
  const memory = `${query} AND metric.type="run.googleapis.com/container/memory/utilizations"`
  const [p50, p99] = [{ reducer: 'REDUCE_PERCENTILE_50' }, { reducer: 'REDUCE_PERCENTILE_99' }]
  const charts: Record<string, Json[]> = {
    'Requests by class of status': [line(requests, { by: 'metric.label.response_code_class' })],
    'Latency of query, 50th and 99th percentile (ms)': [line(latencies, p50), line(latencies, p99)],
    'Answers by what the cache did': [line(own('answers'), { by: 'metric.label.cache' })],
    'Successful calls of warm by endpoint': [line(own('warmed'), { by: 'metric.label.endpoint' })],
    'Bytes in the last hour, by service': [{ prometheusQuery: `sum by (service_name) (${bytesInAnHour})` }],
    'Failures of the store by reason': [line(own('store_failures'), { by: 'metric.label.reason' })],
    Instances: [line(instances, { aligner: 'ALIGN_MAX', by: 'resource.label.service_name' })],
    'Memory of an instance, 99th percentile (share of the limit)': [line(memory, p99)],
  }
  const widgets = Object.entries(charts).map(([title, lines]) => {
    const dataSets = lines.map(timeSeriesQuery => ({ timeSeriesQuery, plotType: 'LINE' }))
    return { title, xyChart: { dataSets } }
  })
  const [board, displayName] = [`projects/${project}/dashboards/${name}`, title('Log query endpoints')]
  return { name: board, displayName, gridLayout: { columns: '2', widgets } }
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
function burnRate(requests: string, threshold: number, windows: Record<string, number>): Condition[] {
  const failed = `${requests} AND metric.labels.response_code_class="5xx"`
  const all = Object.entries(windows)
  const [time, seconds] = all[0]!
  const shares = all.map(([time, seconds]) =>
    over(`5xx in ${time}`, threshold, failed, { per: requests, seconds }),
  )
  return [...shares, over(`More than 5 in ${time}`, 5, failed, { seconds })]
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

/** @param check id of the uptime check, which Google gives */
function rowsOf({ requests, own, isUp, bytesInAnHour }: Names, check: string): Row[] {
  const answers = (...kinds: string[]) =>
    `${own('answers')} AND metric.labels.cache=one_of(${kinds.map(kind => `"${kind}"`).join()})`
  const cacheable = answers('hit', 'stale', 'miss', 'revalidated', 'collapsed')
  const failing = { seconds: 300, aligner: 'ALIGN_NEXT_OLDER', reducer: 'REDUCE_COUNT_FALSE', duration: 120 }
  const bytes = { query: `sum(${bytesInAnHour}) > ${2 ** 40}`, duration: '0s', evaluationInterval: '60s' }
  const long = { per: cacheable, seconds: hour, duration: 900 }
  const all = { combiner: 'AND' } as const
  const burning = { ...all, section: '5xx burn rate' }
  return [
    [
      '5xx burn rate, fast',
      'CRITICAL',
      "Of the calls of query more than 7.2 % were answered 5xx, for an hour and for 5 minutes: 14.4 times what an objective of 99.5 % allows, 2 % of a month's errors in an hour.",
      burnRate(requests, 0.072, { 'an hour': hour, '5 minutes': 300 }),
      burning,
    ],
    [
      '5xx burn rate, slow',
      'WARNING',
      "Of the calls of query more than 3 % were answered 5xx, for 6 hours and for 30 minutes: 6 times what an objective of 99.5 % allows, 5 % of a month's errors in 6 hours.",
      burnRate(requests, 0.03, { '6 hours': 6 * hour, '30 minutes': 1800 }),
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
        over('Misses and refreshes', 0.5, answers('miss', 'revalidated'), long),
        over('More than 100 calls', 100, cacheable, { seconds: hour }),
      ],
      all,
    ],
    [
      'Store unavailable',
      'CRITICAL',
      'Firestore fails or refuses. Known keys get the answers that instances have in memory for five minutes.',
      [over('More than 5 failures in 5 minutes', 5, own('store_failures'), { seconds: 300 })],
    ],
    [
      'Query does not answer',
      'CRITICAL',
      "At least two of the places that Google checks from get no answer of query's /health.",
      [over('The uptime check fails', 1, isUp(check), failing)],
    ],
    [
      'No successful warm for 15 minutes',
      'WARNING',
      'An endpoint that is kept warm has had no call of warm without failures for 15 minutes. Readers still get answers.',
      noneIn15Minutes(own('warmed'), 'metric.label.endpoint'),
    ],
  ]
}

/** Each says in its text what its threshold means, and which section of infra/docs/operating.md to read: by default that of its name. */
function policiesOf(names: Names, check: string): Policy[] {
  const { title, userLabels } = names
  return rowsOf(names, check).map(
    ([name, severity, explanation, conditions, { section = name, ...more } = {}]) => {
      const content = `${explanation} What to look at, in order: infra/docs/operating.md, "${section}".`
      const documentation = { mimeType: 'text/markdown', content }
      const displayName = title(name)
      return { displayName, userLabels, severity, combiner: 'OR', conditions, documentation, ...more }
    },
  )
}

/** All of it for an installation. @param check id of the uptime check, for the policies */
export function watched(site: Pick<Site, 'project' | 'region' | 'prefix'>, check = '') {
  const names = namesOf(site)
  return {
    metrics: metricsOf(names),
    uptimeCheck: uptimeCheckOf(site, names),
    dashboard: dashboardOf(site.project, names),
    policies: policiesOf(names, check),
  }
}
