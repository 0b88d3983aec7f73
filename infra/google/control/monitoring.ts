/** Cloud Logging's metrics and sinks, and Cloud Monitoring's alert policies, notification channels, uptime checks and dashboards. */
import {
  type Call,
  collection,
  create,
  etagOf,
  get,
  invalid,
  isNews,
  type Json,
  list,
  maskOf,
  patch,
  projectOf,
  Refusal,
  remove,
  route,
} from './plane.ts'

const metrics = 'logging/v2/projects/{project}/metrics'
const sinks = 'logging/v2/projects/{project}/sinks'
const policies = 'monitoring/v3/projects/{project}/alertPolicies'
const channels = 'monitoring/v3/projects/{project}/notificationChannels'
const checks = 'monitoring/v3/projects/{project}/uptimeCheckConfigs'
const dashboards = 'monitoring/v1/projects/{project}/dashboards'

export const monitoringRoutes = [
  ...collection(metrics, 'metrics', 'logging.logMetrics'),
  route('POST', metrics, 'logging.logMetrics.create', createMetric),
  route('PUT', `${metrics}/{metric}`, 'logging.logMetrics.update', call =>
    Object.assign(get(call.state, call.name), checkedMetric(call.body)),
  ),

  ...collection(sinks, 'sinks', 'logging.sinks'),
  route('POST', sinks, 'logging.sinks.create', createSink),
  route('PATCH', `${sinks}/{sink}`, 'logging.sinks.update', call => {
    const mask = maskOf(call)
    const sink = get(call.state, call.name)
    patch(sink, checkedSink(call, { ...sink, ...call.body }), mask)
    return sink
  }),

  ...collection(policies, 'alertPolicies', 'monitoring.alertPolicies'),
  route('POST', policies, 'monitoring.alertPolicies.create', call => {
    const name = `${call.name}/${idOf(call.body)}`
    return create(call.state, name, checkedPolicy(call, name))
  }),
  route('PATCH', `${policies}/{policy}`, 'monitoring.alertPolicies.update', call =>
    replace(call, checkedPolicy(call, call.name)),
  ),

  route('DELETE', `${channels}/{channel}`, 'monitoring.notificationChannels.delete', deleteChannel),
  ...collection(channels, 'notificationChannels', 'monitoring.notificationChannels'),
  route('POST', channels, 'monitoring.notificationChannels.create', createChannel),

  ...collection(checks, 'uptimeCheckConfigs', 'monitoring.uptimeCheckConfigs'),
  route('POST', checks, 'monitoring.uptimeCheckConfigs.create', call => {
    const name = `${call.name}/${idOf(call.body)}`
    return create(call.state, name, { ...checkedUptime(call.body), name })
  }),

  route('PATCH', `${checks}/{check}`, 'monitoring.uptimeCheckConfigs.update', call =>
    replace(call, checkedUptime(call.body)),
  ),

  ...collection(dashboards, 'dashboards', 'monitoring.dashboards'),
  route('POST', dashboards, 'monitoring.dashboards.create', createDashboard),
  route('PATCH', `${dashboards}/{dashboard}`, 'monitoring.dashboards.update', updateDashboard),
]

/** Google gives numbers; here they depend on the display name and on what else tells two apart. */
function idOf({ displayName, labels, monitoredResource }: Json): string {
  return String(parseInt(etagOf([displayName, labels, monitoredResource]), 16))
}

function replace(call: Call, resource: Json): Json {
  get(call.state, call.name)
  return (call.state.resources[call.name] = { ...resource, name: call.name })
}

function createMetric(call: Call): Json {
  const name = call.body['name'] as string
  const [, project] = projectOf(call)
  const made = create(call.state, `${call.name}/${name}`, checkedMetric(call.body))
  project.news?.push(name)
  return made
}

/** "REST Resource: projects.sinks": it writes as an account of Cloud Logging's, which comes with the project's first sink. */
function createSink(call: Call): Json {
  const [, project] = projectOf(call)
  const email = `service-${project.number}@gcp-sa-logging.iam.gserviceaccount.com`
  const sink = { ...checkedSink(call, call.body), writerIdentity: `serviceAccount:${email}` }
  const made = create(call.state, `${call.name}/${String(call.body['name'])}`, sink)
  const account = `projects/gcp-sa-logging/serviceAccounts/${email}`
  if (!call.state.resources[account]) project.news?.push(email)
  call.state.resources[account] ??= { name: account, email }
  return made
}

/** "The destination must already exist", `gcloud logging sinks create --help`. */
function checkedSink({ state }: Call, sink: Json): Json {
  const { name, destination = '', filter } = sink as Record<string, string | undefined>
  if (!/^[\w.-]{1,100}$/.test(name ?? '')) invalid('A sink has a name of letters, digits, _, - and .')
  const [, dataset] = /^bigquery\.googleapis\.com\/(projects\/[^/]+\/datasets\/\w+)$/.exec(destination) ?? []
  get(state, dataset ?? invalid(`The destination ${destination} is not a dataset`))
  if (!filter) invalid('Without a filter it would route every line')
  return sink
}

/** "REST Resource: projects.metrics": an extractor for each label, and for the value of a distribution. */
function checkedMetric(metric: Json): Json {
  const { filter, valueExtractor, labelExtractors, metricDescriptor } = metric as {
    filter?: string
    valueExtractor?: string
    labelExtractors?: Record<string, string>
    metricDescriptor?: { valueType?: string; labels?: { key: string }[] }
  }
  if (!filter) invalid('Metric filter is required')
  const labels = (metricDescriptor?.labels ?? []).map(({ key }) => key)
  const extracted = Object.keys(labelExtractors ?? {})
  if (labels.sort().join() !== extracted.sort().join())
    invalid('Label keys in metric_descriptor must match those in label_extractors')
  if ((metricDescriptor?.valueType === 'DISTRIBUTION') !== (valueExtractor !== undefined))
    invalid('A value_extractor is required for DISTRIBUTION metrics, and only for these')
  return metric
}

interface Filtered {
  filter: string
  denominatorFilter?: string
  duration: string
  aggregations?: { alignmentPeriod: string }[]
  denominatorAggregations?: { alignmentPeriod: string }[]
}

interface Condition {
  displayName: string
  name?: string
  conditionThreshold?: Filtered
  conditionAbsent?: Filtered
  conditionPrometheusQueryLanguage?: { query: string }
}

interface Policy {
  conditions?: Condition[]
  combiner?: string
  notificationChannels?: string[]
}

/** "REST Resource: projects.alertPolicies", its fields' descriptions. */
function checkedPolicy(call: Call, name: string): Json {
  const { conditions = [], combiner, notificationChannels = [] } = call.body as Policy
  if (!combiner) invalid('Field alert_policy.combiner had an invalid value: a combiner is required')
  if (conditions.length < 1 || conditions.length > 6) invalid('A policy can have from one to six conditions')
  for (const channel of notificationChannels) get(call.state, channel)
  for (const condition of conditions) checkCondition(call, condition)
  const named = conditions.map(one => ({
    ...one,
    name: one.name ?? `${name}/conditions/${idOf({ ...one })}`,
  }))
  return { enabled: true, ...call.body, conditions: named, name }
}

function checkCondition(call: Call, condition: Condition): void {
  const { conditionThreshold, conditionAbsent, conditionPrometheusQueryLanguage } = condition
  const filtered = conditionThreshold ?? conditionAbsent
  if (filtered) checkFiltered(call, filtered, conditionAbsent ? 120 : 0)
  else if (conditionPrometheusQueryLanguage)
    // "Mapping Cloud Monitoring metric names to PromQL".
    for (const [, metric = ''] of conditionPrometheusQueryLanguage.query.matchAll(
      /logging_googleapis_com:user_(\w+?)(?:_sum|_count|_bucket)?\b/g,
    ))
      checkMetric(call, `logging.googleapis.com/user/${metric}`)
  else
    invalid('Condition subtype (e.g. "condition_absent", "condition_threshold", etc.) is absent or unknown.')
}

function checkFiltered(call: Call, condition: Filtered, minimum: number): void {
  const { filter, denominatorFilter, duration, aggregations, denominatorAggregations } = condition
  if (!/\bresource\.type\s*=/.test(filter)) invalid('The filter must specify the resource type')
  const seconds = parseInt(duration)
  if (!(seconds >= minimum && seconds % 60 === 0)) invalid(`The duration ${duration} is not supported`)
  if (
    denominatorFilter &&
    aggregations?.[0]?.alignmentPeriod !== denominatorAggregations?.[0]?.alignmentPeriod
  )
    invalid('Numerator and denominator must use the same alignment period')
  for (const one of [filter, denominatorFilter ?? filter]) {
    const type = /\bmetric\.type\s*=\s*"([^"]+)"/.exec(one)?.[1]
    checkMetric(call, type ?? invalid('The filter must specify the metric type'))
  }
}

/** "Google Cloud metrics": those of Google that are used here. */
const metricsOfGoogle = [
  'run.googleapis.com/request_count',
  'monitoring.googleapis.com/uptime_check/check_passed',
]

/** The words of terraform-provider-google, issue 11102. */
function checkMetric(call: Call, type: string): void {
  const [id, project] = projectOf(call)
  const own = /^logging\.googleapis\.com\/user\/(.+)$/.exec(type)?.[1]
  const known = own
    ? call.state.resources[`projects/${id}/metrics/${own}`] && !isNews(project, own)
    : metricsOfGoogle.includes(type)
  if (!known)
    throw new Refusal(
      'NOT_FOUND',
      `Cannot find metric(s) that match type = "${type}". If a metric was created recently, it could take up to 10 minutes to become available. Please try again soon.`,
    )
}

/** "Create and manage notification channels by API": the labels that the type's descriptor demands. */
function createChannel(call: Call): Json {
  const { type, labels } = call.body as { type?: string; labels?: Record<string, string> }
  if (type !== 'email' || !labels?.['email_address']) invalid('A channel of type email has an email_address')
  const name = `${call.name}/${idOf(call.body)}`
  return create(call.state, name, { enabled: true, ...call.body, name })
}

/** `force`: "the notification channel will be deleted regardless of its use in alert policies". */
function deleteChannel(call: Call): Json {
  const all = list(call.state, `projects/${call.params['project']}/alertPolicies`)
  const users = all.filter(policy =>
    (policy['notificationChannels'] as string[] | undefined)?.includes(call.name),
  )
  if (users.length > 0 && call.query.get('force') !== 'true')
    throw new Refusal('FAILED_PRECONDITION', 'The notification channel is used by an alerting policy')
  remove(call.state, call.name)
  return {}
}

/** "REST Resource: projects.uptimeCheckConfigs": three regions or more, and the times that there are. */
function checkedUptime(check: Json): Json {
  const { selectedRegions = [], period, timeout } = check as { selectedRegions?: string[] } & Json
  const { labels = {} } = (check['monitoredResource'] ?? {}) as { labels?: Record<string, string> }
  const { host, project_id: project } = labels
  if (!host || !project) invalid('An uptime_url has the labels host and project_id')
  if (selectedRegions.length < 3) invalid('At least 3 regions are required')
  if (!['60s', '300s', '600s', '900s'].includes(String(period)))
    invalid(`The period ${String(period)} is not supported`)
  const seconds = parseInt(String(timeout))
  if (!(seconds >= 1 && seconds <= 60)) invalid('The timeout is between 1 and 60 seconds')
  return check
}

function createDashboard(call: Call): Json {
  const { name, displayName } = call.body as { name?: string; displayName?: string }
  if (!displayName) invalid('A dashboard has a display name')
  const id = name ?? `${call.name}/${idOf(call.body)}`
  const content = { ...call.body, name: id }
  return create(call.state, id, { ...content, etag: etagOf(content) })
}

/** "Manage dashboards by API": the etag says which version the change was made to. */
function updateDashboard(call: Call): Json {
  const { etag, ...content } = call.body
  if (etag !== get(call.state, call.name)['etag'])
    throw new Refusal('ABORTED', 'The dashboard was modified since: the etag is not the current one')
  return replace(call, { ...content, etag: etagOf(content) })
}
