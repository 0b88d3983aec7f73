/** What Cloud Logging and Cloud Monitoring refuse: sinks to nowhere, and alert policies about metrics that are not there. */
import { type Call, get, invalid, isNews, type Json, list, projectOf, refuse } from './plane.ts'

/**
 * "The destination must already exist", `gcloud logging sinks create --help`. It writes as an account of Cloud Logging's, which
 * comes with the project's first sink ("REST Resource: projects.sinks").
 */
export function checkedSink(call: Call, sink: Json): Json {
  const { destination = '', filter } = sink as Record<string, string | undefined>
  const [, dataset] = /^bigquery\.googleapis\.com\/(projects\/[^/]+\/datasets\/\w+)$/.exec(destination) ?? []
  get(call.state, dataset ?? invalid(`The destination ${destination} is not a dataset`))
  if (!filter) invalid('Without a filter it would route every line')
  const [, project] = projectOf(call)
  const email = `service-${project.number}@gcp-sa-logging.iam.gserviceaccount.com`
  const account = `projects/gcp-sa-logging/serviceAccounts/${email}`
  if (!call.state.resources[account]) project.news?.push(email)
  call.state.resources[account] ??= { name: account, email }
  return { ...sink, writerIdentity: `serviceAccount:${email}` }
}

/** Its channels and its metrics are there, by filter or in PromQL ("Mapping Cloud Monitoring metric names to PromQL"). */
export function checkedPolicy(call: Call, policy: Json): Json {
  const {
    conditions = [],
    combiner,
    notificationChannels = [],
  } = policy as Record<string, string[] | undefined>
  if (!combiner || conditions.length === 0) invalid('A policy has conditions and a combiner')
  for (const channel of notificationChannels) get(call.state, channel)
  const metric = /metric\.type=\\"([^"\\]+)|logging_googleapis_com:user_(\w+?)(?:_sum|_count|_bucket)?\b/g
  for (const [, type, own] of JSON.stringify(conditions).matchAll(metric))
    checkMetric(call, type ?? `${ofLogs}${own}`)
  return policy
}

const ofLogs = 'logging.googleapis.com/user/'

/** "Google Cloud metrics": those of Google that are used here. */
const ofGoogle = ['run.googleapis.com/request_count', 'monitoring.googleapis.com/uptime_check/check_passed']

/** The words of terraform-provider-google, issue 11102. */
function checkMetric(call: Call, type: string): void {
  const [id, project] = projectOf(call)
  const own = type.startsWith(ofLogs) ? type.slice(ofLogs.length) : ''
  const isThere = own ? call.state.resources[`projects/${id}/metrics/${own}`] : ofGoogle.includes(type)
  if (!isThere || isNews(project, own))
    refuse(
      'NOT_FOUND',
      `Cannot find metric(s) that match type = "${type}". If a metric was created recently, it could take up to 10 minutes to become available. Please try again soon.`,
    )
}

/** `force`: "the notification channel will be deleted regardless of its use in alert policies". */
export function isInUse({ state, params, name, query }: Call): string | false {
  const policies = list(state, `projects/${params['project']}/alertPolicies`)
  const isUsed = policies.some(one => (one['notificationChannels'] as string[] | undefined)?.includes(name))
  return isUsed && query.get('force') !== 'true' && 'The notification channel is used by an alerting policy'
}
