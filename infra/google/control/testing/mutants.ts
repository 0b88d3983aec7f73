/**
 * What set-up makes, one thing after the other taken away: each as it would be if set-up had forgotten it. A rehearsal has to fail
 * for each, and its message has to name what is missing.
 */
import { apis } from '../../../deploy/project.ts'
import { projectRoles } from '../../../deploy/rights.ts'
import { accountNames } from '../../../deploy/settings.ts'
import type { State } from '../plane.ts'

export interface Mutant {
  /** What is missing, as `bigquery.jobUser of query`. */
  title: string
  /** Takes it away, if it is there. */
  take: (state: State) => void
  /** What the rehearsal's message has to say. */
  says: RegExp
}

const rows = (text: string) =>
  text
    .trim()
    .split('\n')
    .map(line => line.trim().split(/ +\| +/))

const ofProject = accountNames.flatMap(name =>
  projectRoles[name].map(role => `${role} of ${name} | ^projects/[^/]+$ | ${role} | lqe-${name}@ | lacks`),
)
const asAccounts = accountNames.map(
  name =>
    `serviceAccountUser of build on ${name} | /lqe-${name}@ | iam.serviceAccountUser | lqe-build@ | lacks iam.serviceAccounts.actAs`,
)

/** Title, on which resources, the role, to whom, and what the message has to say (of them, where they lack something). */
const rights = rows(`
  ${[...ofProject, ...asAccounts].join('\n')}
  serviceAccountOpenIdTokenCreator of build | /lqe-scheduler@ | iam.serviceAccountOpenIdTokenCreator | lqe-build@ | lacks iam.serviceAccounts.getOpenIdToken
  serviceAccountOpenIdTokenCreator of owner | /lqe-scheduler@ | iam.serviceAccountOpenIdTokenCreator | owner@ | lacks iam.serviceAccounts.getOpenIdToken
  READER of query                  | /datasets/logs$  | bigquery.dataViewer | lqe-query@     | lacks bigquery
  READER of warm                   | /datasets/logs$  | bigquery.dataViewer | lqe-warm@      | lacks bigquery
  WRITER of build                  | /datasets/logs$  | bigquery.dataEditor | lqe-build@     | lacks bigquery
  WRITER of the sink               | /datasets/logs$  | bigquery.dataEditor | gcp-sa-logging | of the sink lacks
  run.invoker of all on query      | /services/query$ | run.invoker         | allUsers       | query is up
  run.invoker of scheduler on warm | /services/warm$  | run.invoker         | lqe-scheduler@ | lacks run.routes.invoke`)

/** Title, names of what is taken away, what the message has to say, and the field if it is one. */
const things = rows(`
  the composite index of answers         | /answers/indexes/             | no index of answers by endpoint ASCENDING, usedAt DESCENDING
  the index of keys                      | /keys/fields/createdAt$       | no index of keys by createdAt
  the index of endpoints                 | /endpoints/fields/name$       | no index of endpoints by name
  expiry of answers                      | /answers/fields/expireAt$     | documents of answers never expire      | ttlConfig
  expiry of answerChunks                 | /answerChunks/fields/expireAt | documents of answerChunks never expire | ttlConfig
  expiry of spending                     | /spending/fields/expireAt$    | documents of spending never expire     | ttlConfig
  expiry of warming                      | /warming/fields/expireAt$     | documents of warming never expire      | ttlConfig
  point-in-time recovery                 | /databases/[^/]+$             | no point-in-time recovery              | pointInTimeRecoveryEnablement
  the backup schedule                    | /backupSchedules/             | no backup schedule
  the sink                               | /sinks/                       | sinks/lqe-requests
  the scheduler’s job                    | /jobs/                        | no job of the scheduler
  the table under the view of requests   | /run_googleapis_com_stdout$   | run_googleapis_com_stdout`)

function withoutApi(api: string): Mutant {
  const take = ({ projects }: State) => {
    for (const one of Object.values(projects)) one.apis = one.apis.filter(name => name !== api)
  }
  return { title: `API ${api}`, take, says: new RegExp(api.replaceAll('.', String.raw`\.`)) }
}

function withoutRight([title = '', on = '', role, member = '', words = '']: string[]): Mutant {
  const take = ({ policies }: State) => {
    for (const [name, { bindings = [] }] of Object.entries(policies))
      for (const binding of new RegExp(on).test(name) ? bindings : [])
        if (binding.role === `roles/${role}`)
          binding.members = binding.members.filter(one => !one.includes(member))
  }
  return { title, take, says: new RegExp(words.includes('lacks') ? `${member}\\S* ${words}` : words) }
}

/** Resources, or a field of theirs. */
function without([title = '', names = '', words = '', field]: string[]): Mutant {
  const take = ({ resources }: State) => {
    for (const [name, resource] of Object.entries(resources))
      if (new RegExp(names).test(name))
        if (field === undefined) delete resources[name]
        else delete resource[field]
  }
  return { title, take, says: new RegExp(words) }
}

export const mutants = [...apis.map(withoutApi), ...rights.map(withoutRight), ...things.map(without)]
