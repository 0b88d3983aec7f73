/**
 * What set-up makes, one thing after the other taken away: each as it would be if set-up had forgotten it. A rehearsal has to fail
 * for each, and its message has to name what is missing.
 */
import { apis, projectRoles } from '../../deploy/project.ts'
import { accountNames } from '../../deploy/settings.ts'
import type { State } from './plane.ts'

export interface Mutant {
  /** What is missing, as `bigquery.jobUser of query`. */
  title: string
  /** Takes it away, if it is there. */
  take: (state: State) => void
  /** What the rehearsal's message has to say. */
  says: RegExp
}

/** Takes a member of a role away, on resources whose names fit. */
function withoutRight([title, on, role, member, says]: readonly [
  string,
  RegExp,
  string,
  string,
  string,
]): Mutant {
  const take = ({ policies }: State) => {
    for (const [name, { bindings = [] }] of Object.entries(policies))
      for (const binding of on.test(name) ? bindings : [])
        if (binding.role === `roles/${role}`)
          binding.members = binding.members.filter(one => !one.includes(member))
  }
  return { title, take, says: new RegExp(says) }
}

/** Takes resources, or a field of theirs, away. */
function without([title, names, says, field]: readonly [string, string, string, string?]): Mutant {
  const take = ({ resources }: State) => {
    for (const [name, resource] of Object.entries(resources))
      if (!new RegExp(names).test(name)) continue
      else if (field === undefined) delete resources[name]
      else delete resource[field]
  }
  return { title, take, says: new RegExp(says) }
}

function withoutApi(api: string): Mutant {
  const take = ({ projects }: State) => {
    for (const one of Object.values(projects)) one.apis = one.apis.filter(name => name !== api)
  }
  return { title: `API ${api}`, take, says: new RegExp(api.replaceAll('.', String.raw`\.`)) }
}

const project = /^projects\/[^/]+$/
const dataset = /\/datasets\/logs$/
const query = /\/services\/query$/
const warm = /\/services\/warm$/
const account = (name: string) => new RegExp(`/serviceAccounts/lqe-${name}@`)
const [user, signer] = ['iam.serviceAccountUser', 'iam.serviceAccountOpenIdTokenCreator']
const [viewer, editor] = ['bigquery.dataViewer', 'bigquery.dataEditor']

/** Title, where the right is granted, the role, to whom, and what the message has to say. */
const rights = [
  ...accountNames.flatMap(name =>
    projectRoles[name].map(
      role => [`${role} of ${name}`, project, role, `:lqe-${name}@`, `lqe-${name}@\\S+ lacks`] as const,
    ),
  ),
  ...accountNames.map(
    name =>
      [
        `serviceAccountUser of build on ${name}`,
        account(name),
        user,
        ':lqe-build@',
        String.raw`lqe-build@\S+ lacks iam\.serviceAccounts\.actAs`,
      ] as const,
  ),
  ...['lqe-build', 'owner'].map(
    name =>
      [
        `serviceAccountOpenIdTokenCreator of ${name.replace('lqe-', '')}`,
        account('scheduler'),
        signer,
        `:${name}@`,
        `${name}@\\S+ lacks iam\\.serviceAccounts\\.getOpenIdToken`,
      ] as const,
  ),
  ['READER of query', dataset, viewer, ':lqe-query@', String.raw`lqe-query@\S+ lacks bigquery`],
  ['READER of warm', dataset, viewer, ':lqe-warm@', String.raw`lqe-warm@\S+ lacks bigquery`],
  ['WRITER of build', dataset, editor, ':lqe-build@', String.raw`lqe-build@\S+ lacks bigquery`],
  ['WRITER of the sink', dataset, editor, 'gcp-sa-logging', String.raw`gcp-sa-logging\S+ of the sink lacks`],
  ['run.invoker of all on query', query, 'run.invoker', 'allUsers', 'query is up'],
  [
    'run.invoker of scheduler on warm',
    warm,
    'run.invoker',
    'lqe-scheduler@',
    String.raw`lqe-scheduler@\S+ lacks run\.routes\.invoke`,
  ],
] as const

/** Title, names of what is taken away, what the message has to say, and the field if it is one. */
const things = [
  [
    'the composite index of answers',
    '/answers/indexes/',
    'no index of answers by endpoint ASCENDING, usedAt DESCENDING',
  ],
  ['the index of keys', '/keys/fields/createdAt$', 'no index of keys by createdAt'],
  ['the index of endpoints', '/endpoints/fields/name$', 'no index of endpoints by name'],
  ...['answers', 'answerChunks', 'spending', 'warming'].map(
    group =>
      [
        `expiry of ${group}`,
        `/${group}/fields/expireAt$`,
        `documents of ${group} never expire`,
        'ttlConfig',
      ] as const,
  ),
  [
    'point-in-time recovery',
    '/databases/[^/]+$',
    'no point-in-time recovery',
    'pointInTimeRecoveryEnablement',
  ],
  ['the backup schedule', '/backupSchedules/', 'no backup schedule'],
  ['the sink', '/sinks/', 'sinks/lqe-requests'],
  ['the scheduler’s job', '/jobs/', 'no job of the scheduler'],
  ['the table under the view of requests', '/run_googleapis_com_stdout$', 'run_googleapis_com_stdout'],
] as const

export const mutants = [...apis.map(withoutApi), ...rights.map(withoutRight), ...things.map(without)]
