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
function withoutRight(title: string, on: RegExp, role: string, member: RegExp, says: RegExp): Mutant {
  return {
    title,
    says,
    take: ({ policies }) => {
      for (const [name, { bindings = [] }] of Object.entries(policies))
        if (on.test(name))
          for (const binding of bindings)
            if (binding.role === `roles/${role}`)
              binding.members = binding.members.filter(one => !member.test(one))
    },
  }
}

/** Takes resources, or a field of theirs, away. */
function without(title: string, names: RegExp, says: RegExp, field?: string): Mutant {
  return {
    title,
    says,
    take: ({ resources }) => {
      for (const name of Object.keys(resources).filter(one => names.test(one)))
        if (field === undefined) delete resources[name]
        else delete resources[name]![field]
    },
  }
}

const project = /^projects\/[^/]+$/
const dataset = /\/datasets\/logs$/
const escaped = (text: string) => new RegExp(text.replaceAll('.', String.raw`\.`))

export const mutants: Mutant[] = [
  ...apis.map(api => ({
    title: `API ${api}`,
    says: escaped(api),
    take: ({ projects }: State) => {
      for (const one of Object.values(projects)) one.apis = one.apis.filter(name => name !== api)
    },
  })),
  ...accountNames.flatMap(name =>
    projectRoles[name].map(role =>
      withoutRight(
        `${role} of ${name}`,
        project,
        role,
        new RegExp(`:lqe-${name}@`),
        new RegExp(`lqe-${name}@\\S+ lacks`),
      ),
    ),
  ),
  ...accountNames.map(name =>
    withoutRight(
      `serviceAccountUser of build on ${name}`,
      new RegExp(`/serviceAccounts/lqe-${name}@`),
      'iam.serviceAccountUser',
      /:lqe-build@/,
      /lqe-build@\S+ lacks iam\.serviceAccounts\.actAs/,
    ),
  ),
  ...(['build', 'owner'] as const).map(name =>
    withoutRight(
      `serviceAccountOpenIdTokenCreator of ${name}`,
      /\/serviceAccounts\/lqe-scheduler@/,
      'iam.serviceAccountOpenIdTokenCreator',
      new RegExp(`:(lqe-)?${name}@`),
      new RegExp(`${name}@\\S+ lacks iam\\.serviceAccounts\\.getOpenIdToken`),
    ),
  ),
  ...(['query', 'warm'] as const).map(name =>
    withoutRight(
      `READER of ${name}`,
      dataset,
      'bigquery.dataViewer',
      new RegExp(`:lqe-${name}@`),
      new RegExp(`lqe-${name}@\\S+ lacks bigquery`),
    ),
  ),
  withoutRight(
    'WRITER of build',
    dataset,
    'bigquery.dataEditor',
    /:lqe-build@/,
    /lqe-build@\S+ lacks bigquery/,
  ),
  withoutRight(
    'WRITER of the sink',
    dataset,
    'bigquery.dataEditor',
    /gcp-sa-logging/,
    /gcp-sa-logging\S+ of the sink lacks/,
  ),
  withoutRight('run.invoker of all on query', /\/services\/query$/, 'run.invoker', /allUsers/, /query is up/),
  withoutRight(
    'run.invoker of scheduler on warm',
    /\/services\/warm$/,
    'run.invoker',
    /lqe-scheduler@/,
    /lqe-scheduler@\S+ lacks run\.routes\.invoke/,
  ),
  without(
    'the composite index of answers',
    /\/collectionGroups\/answers\/indexes\//,
    /no index of answers by endpoint ASCENDING, usedAt DESCENDING/,
  ),
  without(
    'the index of keys',
    /\/collectionGroups\/keys\/fields\/createdAt$/,
    /no index of keys by createdAt/,
  ),
  without(
    'the index of endpoints',
    /\/collectionGroups\/endpoints\/fields\/name$/,
    /no index of endpoints by name/,
  ),
  ...['answers', 'answerChunks', 'spending', 'warming'].map(group =>
    without(
      `expiry of ${group}`,
      new RegExp(`/collectionGroups/${group}/fields/expireAt$`),
      new RegExp(`documents of ${group} never expire`),
      'ttlConfig',
    ),
  ),
  without(
    'point-in-time recovery',
    /\/databases\/[^/]+$/,
    /no point-in-time recovery/,
    'pointInTimeRecoveryEnablement',
  ),
  without('the backup schedule', /\/backupSchedules\//, /no backup schedule/),
  without('the sink', /\/sinks\//, /sinks\/lqe-requests/),
  without('the scheduler’s job', /\/jobs\//, /no job of the scheduler/),
  without(
    'the table under the view of requests',
    /\/tables\/run_googleapis_com_stdout$/,
    /run_googleapis_com_stdout/,
  ),
]
