/**
 * The resources of Google's APIs that are only made, read, changed and deleted: one table, a row for each kind, and the methods
 * that a row means. What is more than that has a file of its own.
 */
import { randomUUID } from 'node:crypto'
import { demandActAs, policyRoutes } from './access.ts'
import { checkedDataset, checkedTable } from './bigquery.ts'
import { checkedIndex, checkedSchedule, firestoreOperation } from './firestore.ts'
import { etagOf, invalid, masked, pageOf, projectOf, refuse, route, isNews } from './plane.ts'
import type { Call, Json, Route } from './plane.ts'

/** What a kind of resource has of its own. Its shape is checked by `shapes.ts`. */
interface Kind {
  /** Under which a list is answered; by default the last word of the path. */
  key?: string
  /** Of a new one; by default that of its name or a number that depends on what it is. */
  id?: (call: Call) => unknown
  /** The verb of a change, and what the resource is after it; by default as an update mask says. */
  verb?: string
  change?: (call: Call, present: Json) => Json
  /** Whether a change may say which version it was made to. */
  hasEtag?: boolean
  hasPolicy?: boolean
  /** Refuses what Google refuses. @returns what is kept */
  check?: (call: Call, wanted: Json, present?: Json) => Json | Promise<Json>
  /** Why it cannot be deleted. */
  holds?: (call: Call, present: Json) => string | false
  /** What a change answers: by default the resource. */
  answer?: (call: Call, resource: Json, name: string) => Json
}

/** Changes without a mask: the new one, with the old one's name; and what is named, in place of what was. */
const whole: Kind['change'] = ({ body }, { name }) => ({ ...body, name })
const merged: Kind['change'] = ({ body }, present) => ({ ...present, ...body })

const account: Kind = {
  key: 'accounts',
  id: ({ params, body }) => `${String(body['accountId'])}@${params['project']}.iam.gserviceaccount.com`,
  hasPolicy: true,
  check: newAccount,
}
const dataset: Kind = {
  id: ({ body }) => (body['datasetReference'] as Json)['datasetId'],
  change: merged,
  hasEtag: true,
  check: checkedDataset,
  // "datasets.delete": tables go with it only where `deleteContents` says so.
  holds: ({ state, name, query }) =>
    state.list(`${name}/tables`).length > 0 &&
    query.get('deleteContents') !== 'true' &&
    `Dataset ${name} is still in use`,
}
const table: Kind = {
  id: ({ body }) => (body['tableReference'] as Json)['tableId'],
  change: merged,
  check: checkedTable,
}
const database: Kind = {
  id: ({ query }) => query.get('databaseId'),
  // "Manage databases", "Delete protection".
  holds: (_, { deleteProtectionState: state }) =>
    state === 'DELETE_PROTECTION_ENABLED' &&
    'The database cannot be deleted because delete protection is enabled.',
  answer: firestoreOperation,
}
const schedule: Kind = {
  id: ({ body }) => (body['dailyRecurrence'] ? 'daily' : 'weekly'),
  check: checkedSchedule,
}
const build: Kind = {
  id: () => randomUUID(),
  check: checkedBuild,
  answer: (_, { name }) => ({
    name: String(name).replace('/builds/', '/operations/'),
    metadata: { build: { name } },
  }),
}

const databases = 'firestore/v1/projects/{project}/databases'
const datasets = 'bigquery/v2/projects/{project}/datasets'
const monitoring = 'monitoring/v3/projects/{project}'
const builds = 'cloudbuild/v1/projects/{project}/locations/{location}'

/** The path of each collection, what the permissions of its methods begin with, and what it has of its own. */
const kinds: [path: string, right: string, kind?: Kind][] = [
  ['iam/v1/projects/{project}/serviceAccounts', 'iam.serviceAccounts', account],
  [datasets, 'bigquery.datasets', dataset],
  [`${datasets}/{dataset}/tables`, 'bigquery.tables', table],
  [databases, 'datastore.databases', database],
  [`${databases}/{database}/backupSchedules`, 'datastore.backupSchedules', schedule],
  [
    `${databases}/{database}/collectionGroups/{group}/indexes`,
    'datastore.indexes',
    { check: checkedIndex, answer: firestoreOperation },
  ],
  ['firestore/v1/projects/{project}/locations/{location}/backups', 'datastore.backups'],
  [
    'logging/v2/projects/{project}/metrics',
    'logging.logMetrics',
    { verb: 'PUT', change: whole, check: newMetric },
  ],
  ['logging/v2/projects/{project}/sinks', 'logging.sinks', { check: checkedSink }],
  [`${monitoring}/alertPolicies`, 'monitoring.alertPolicies', { change: whole, check: checkedPolicy }],
  [`${monitoring}/notificationChannels`, 'monitoring.notificationChannels', { holds: isInUse }],
  [`${monitoring}/uptimeCheckConfigs`, 'monitoring.uptimeCheckConfigs', { change: whole }],
  ['monitoring/v1/projects/{project}/dashboards', 'monitoring.dashboards', { change: whole, hasEtag: true }],
  [
    'cloudscheduler/v1/projects/{project}/locations/{location}/jobs',
    'cloudscheduler.jobs',
    { check: checkedJob },
  ],
  [`${builds}/triggers`, 'cloudbuild.builds', { check: checkedTrigger }],
  [`${builds}/builds`, 'cloudbuild.builds', build],
]

export const resourceRoutes = kinds.flatMap(methodsOf)

/** List, get, create, change and delete. */
function methodsOf([path, right, kind = {}]: (typeof kinds)[0]): Route[] {
  const { key = path.split('/').at(-1)!, id = idOf, verb = 'PATCH', change = masked, hasEtag = false } = kind
  const { check = (_, wanted) => wanted, holds = () => false, answer = (_, resource) => resource } = kind
  const told = (one: Json) => (hasEtag ? { ...one, etag: etagOf(one) } : one)
  const one = `${path}/{id}`
  return [
    ...(kind.hasPolicy ? policyRoutes(one, right) : []),
    route('GET', path, `${right}.list`, ({ state, name, query }) => pageOf(key, state.list(name), query)),
    route('GET', one, `${right}.get`, ({ state, name }) => told(state.get(name))),
    route('POST', path, `${right}.create`, async call => {
      const name = `${call.name}/${String(id(call))}`
      call.state.assertNew(name)
      const made = (call.state.resources[name] = await check(call, { name, ...call.body }))
      return answer(call, told(made), name)
    }),
    route(verb, one, `${right}.update`, async call => {
      const present = call.state.get(call.name)
      const { etag, ...wanted } = change(call, present)
      if (hasEtag && etag !== undefined && etag !== etagOf(present))
        refuse('ABORTED', 'Precondition Failed: the etag is not the current one')
      const changed = (call.state.resources[call.name] = await check(call, wanted, present))
      return answer(call, told(changed), call.name)
    }),
    route('DELETE', one, `${right}.delete`, call => {
      const reason = holds(call, call.state.get(call.name))
      if (reason) refuse('FAILED_PRECONDITION', reason)
      call.state.remove(call.name)
      return answer(call, {}, call.name)
    }),
  ]
}

function idOf({ body }: Call): string {
  const { name } = body as { name?: string }
  return name?.split('/').at(-1) ?? String(parseInt(etagOf(body), 16))
}

// ---- checks

function newAccount(call: Call, { name, accountId, serviceAccount }: Json): Json {
  if (!/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/.test(String(accountId)))
    invalid(`Invalid service account id ${String(accountId)}: 6 to 30 characters`)
  const email = String(name).split('/').at(-1)!
  projectOf(call)[1].news?.push(email)
  return { name, email, projectId: call.params['project'], ...(serviceAccount as Json) }
}

function newMetric(call: Call, metric: Json, present?: Json): Json {
  if (!present) projectOf(call)[1].news?.push(metric['name'] as string)
  return metric
}

/** "Use authentication with HTTP targets": the caller must be allowed to act as the job's account. */
function checkedJob(call: Call, { httpTarget, ...job }: Json): Json {
  const { httpMethod, oidcToken, ...target } = (httpTarget ?? {}) as Json
  if (oidcToken) demandActAs(call, (oidcToken as Json)['serviceAccountEmail'] as string)
  // Google's client for Node.js sends the method's number ("REST Resource: projects.locations.jobs", `HttpMethod`).
  return { ...job, httpTarget: { ...target, oidcToken, httpMethod: httpMethod === 1 ? 'POST' : httpMethod } }
}

/** "Configure user-specified service accounts": who submits a build must be allowed to act as its account. */
function checkedBuild(call: Call, build: Json): Json {
  demandActAs(call, build['serviceAccount'] as string)
  if (!(build['options'] as Json | undefined)?.['logging'])
    invalid('if build.service_account is specified, the build must say where its logs go')
  return build
}

/** "Create and manage build triggers": the account may be used, and the repository is connected. Its name is its id. */
function checkedTrigger(call: Call, trigger: Json): Json {
  const { owner, name } = (trigger['github'] ?? {}) as Record<string, string>
  const { repository: connected } = (trigger['repositoryEventConfig'] ?? {}) as { repository?: string }
  demandActAs(call, trigger['serviceAccount'] as string)
  const repository = connected ?? call.name.replace(/triggers.*/, `github/${owner}/${name}`)
  if (!call.state.resources[repository])
    refuse('FAILED_PRECONDITION', `Repository mapping does not exist. Please connect ${repository}`)
  return { ...trigger, id: trigger['name'] }
}

/**
 * "The destination must already exist", `gcloud logging sinks create --help`. It writes as an account of Cloud Logging's, which
 * comes with the project's first sink ("REST Resource: projects.sinks").
 */
function checkedSink(call: Call, sink: Json): Json {
  const { destination = '', filter } = sink as Record<string, string | undefined>
  const [, dataset] = /^bigquery\.googleapis\.com\/(projects\/[^/]+\/datasets\/\w+)$/.exec(destination) ?? []
  call.state.get(dataset ?? invalid(`The destination ${destination} is not a dataset`))
  if (!filter) invalid('Without a filter it would route every line')
  const [, project] = projectOf(call)
  const email = `service-${project.number}@gcp-sa-logging.iam.gserviceaccount.com`
  const account = `projects/gcp-sa-logging/serviceAccounts/${email}`
  if (!call.state.resources[account]) project.news?.push(email)
  call.state.resources[account] ??= { name: account, email }
  return { ...sink, writerIdentity: `serviceAccount:${email}` }
}

/** Its channels and its metrics are there, by filter or in PromQL ("Mapping Cloud Monitoring metric names to PromQL"). */
function checkedPolicy(call: Call, policy: Json): Json {
  const {
    conditions = [],
    combiner,
    notificationChannels = [],
  } = policy as Record<string, string[] | undefined>
  if (!combiner || conditions.length === 0) invalid('A policy has conditions and a combiner')
  for (const channel of notificationChannels) call.state.get(channel)
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
function isInUse({ state, params, name, query }: Call): string | false {
  const policies = state.list(`projects/${params['project']}/alertPolicies`)
  const isUsed = policies.some(one => (one['notificationChannels'] as string[] | undefined)?.includes(name))
  return isUsed && query.get('force') !== 'true' && 'The notification channel is used by an alerting policy'
}
