/**
 * `npm run rehearse`: all that an operator does, from the files that gcloud would upload, as the accounts that would do it: a first
 * deployment, rows through endpoints, the scheduler's call, a push, another region, a restore, a rollback and a removal. Google's
 * control plane, BigQuery and Cloud Run are stand-ins, Firestore is Google's emulator behind a gate that asks for rights, and
 * gcloud deploys the functions. Prints each part with its time.
 */
import { mkdirSync } from 'node:fs'
import { identityToken, isPermitted } from './access.ts'
import type { Service } from './functions.ts'
import { openRehearsal, type Rehearsal, region } from './open-rehearsal.ts'
import type { Project } from './testing/project.ts'

export type Part = readonly [title: string, act: (rehearsal: Rehearsal) => Promise<void>]

/** Those that stand or fall with what set-up has made. */
export const partsOfSetUp: Part[] = [
  ['a first deployment', async ({ deploy }) => void (await deploy('--sample'))],
  ['endpoints read rows', readRows],
  ['the scheduler refreshes an answer', refresh],
  ['what is kept expires, and is backed up', keep],
  ['requests are routed', route],
  ['a push', push],
]

export const parts: Part[] = [
  ...partsOfSetUp,
  ['again it is nothing', again],
  ['a second installation', second],
  ['another region', ({ deploy }) => deploy('push', '--region=europe-west4').then(() => {})],
  ['a restore', restore],
  ['a rollback', async ({ deploy }) => void (await deploy('rollback'))],
  ['a removal', async ({ deploy }) => void (await deploy('remove'))],
]

/** It puts back what was changed by hand. */
async function push({ build, project: { plane, id } }: Rehearsal): Promise<void> {
  const jobs = () => plane.state.list(`projects/${id}/locations/${region}/jobs`)
  for (const job of jobs()) job['schedule'] = '0 0 1 1 *'
  await build()
  must(!jobs().some(job => job['schedule'] === '0 0 1 1 *'), 'a job keeps what was changed by hand')
}

/** Beside the first one, with tables, documents and functions of its own. */
async function second({ deploy, project: { plane, id } }: Rehearsal): Promise<void> {
  const names = () => Object.keys(plane.state.resources).filter(name => name.includes('staging'))
  const output = await deploy('--prefix=staging', '--sample')
  must(output.includes('The page:'), 'it does not end with its page')
  const datasets = `projects/${id}/datasets`
  must(plane.state.resources[`${datasets}/staging_logs`] !== undefined, `no dataset of it: ${names().join()}`)
  await deploy('remove', '--prefix=staging')
  must(!names().some(name => /services|functions|jobs/.test(name)), `left of it: ${names().join()}`)
}

function must(is: boolean, otherwise: string): void {
  if (!is) throw new Error(otherwise)
}

async function again({ deploy }: Rehearsal): Promise<void> {
  const output = await deploy('--dry-run')
  const changed = output.split('\n').filter(line => /: (made|changed|expiry)|rights on|enabled/.test(line))
  must(changed.length === 0, `a second deployment would change: ${changed.join('; ')}`)
}

/** By an endpoint's own query, by a caller's, and over a roll-up. */
async function readRows({ ask }: Rehearsal): Promise<void> {
  const daily = 'usage.api-counts?interval=daily&project=%5Ehttps%3A%2F%2Fbzpsqoiujwhenktxgdfr%5C.'
  for (const call of ['logs.all?project=bzpsqoiujwhenktxgdfr', daily]) {
    const response = await ask(`/api/endpoints/query/${call}`)
    const text = await response.text()
    must(response.status === 200, `${call} answered ${response.status}: ${text.slice(0, 300)}`)
    const { result } = JSON.parse(text) as { result: unknown[] }
    must(result.length > 0, `${call} has no rows`)
  }
}

/** One in use, and old. */
async function refresh({ ask, documents, project }: Rehearsal): Promise<void> {
  await ask('/api/endpoints/query/usage.api-counts?interval=hourly&project=bzpsqoiujwhenktxgdfr')
  const firestore = documents()
  const { docs } = await firestore.collection('answers').get()
  must(docs.length > 0, 'no answer was stored')
  for (const document of docs)
    await document.ref.update({ uses: 3, 'stored.madeAt': Date.now() - 600_000, usedAt: Date.now() })
  await firestore.terminate()
  const jobs = project.plane.state.list(`projects/${project.id}/locations/${region}/jobs`)
  must(jobs.length > 0, 'there is no job of the scheduler')
  for (const job of jobs) {
    const response = await callJob(project, String(job['name']))
    const text = await response.text()
    const is = response.status === 200 && /"refreshed":[1-9]/.test(text)
    must(is, `the scheduler's call: ${response.status} ${text}`)
  }
}

/** By what documents have, not by what set-up was told. */
async function keep({ documents, lqe, ask, project: { plane, id } }: Rehearsal): Promise<void> {
  // A budget, and an answer of several documents.
  const made = await lqe('key', 'create', '--name=budget', '--all', '--expires=1d', '--bytes-per-day=1GB')
  const hash = (n: number) => `TO_HEX(SHA512(CONCAT(CAST(n AS STRING), '${n}'))) AS x${n}`
  const columns = Array.from({ length: 24 }, (_, n) => hash(n))
  const large = `SELECT ${columns.join()} FROM UNNEST(GENERATE_ARRAY(1, 1000)) AS n`
  const project = 'bzpsqoiujwhenktxgdfr'
  const call = `usage.api-counts?interval=hourly&project=${project}&sql=${encodeURIComponent(large)}`
  const key = /lqe_\w{20,}/.exec(made)?.[0]
  for (const asked of [call, `logs.all?project=${project}`]) {
    const { status } = await ask(`/api/endpoints/query/${asked}`, key)
    must(status === 200, `${asked.split('?')[0]!} with a budget: ${status}`)
  }
  const firestore = documents()
  const collections = await firestore.listCollections()
  const kept = collections.map(collection => collection.id)
  for (const group of ['answerChunks', 'spending', 'warming'])
    must(kept.includes(group), `there is no document of ${group} that could expire`)
  const database = `projects/${id}/databases/(default)`
  for (const collection of collections) {
    const [document] = (await collection.limit(1).get()).docs
    const expires = document?.get('expireAt') !== undefined
    const field = plane.state.resources[`${database}/collectionGroups/${collection.id}/fields/expireAt`]
    must(!expires || field?.['ttlConfig'] !== undefined, `documents of ${collection.id} never expire`)
  }
  await firestore.terminate()
  const { pointInTimeRecoveryEnablement: recovery } = plane.state.get(database)
  must(recovery === 'POINT_IN_TIME_RECOVERY_ENABLED', 'there is no point-in-time recovery')
  must(plane.state.list(`${database}/backupSchedules`).length > 0, 'there is no backup schedule')
}

/** Cloud Logging writes as the sink's own account. */
async function route({ project: { plane, id } }: Rehearsal): Promise<void> {
  const sink = plane.state.get(`projects/${id}/sinks/lqe-requests`) as Record<string, string>
  const { destination = '', writerIdentity = '', filter = '' } = sink
  const dataset = destination.replace('bigquery.googleapis.com/', '')
  const writer = writerIdentity.replace('serviceAccount:', '')
  must(
    isPermitted(plane.state, writer, 'bigquery.tables.updateData', dataset),
    `${writerIdentity} of the sink lacks bigquery.tables.updateData on ${dataset}`,
  )
  must(/service_name="query"/.test(filter), `the sink routes other lines: ${filter}`)
}

/** Into another database, to which the service is then pointed: its keys and definitions are those of before. */
async function restore({ deploy, documents, project: { plane, id }, ask }: Rehearsal): Promise<void> {
  const database = `projects/${id}/databases/(default)`
  const backup = `projects/${id}/locations/eur3/backups/b1`
  plane.state.resources[backup] = { name: backup, database, snapshotTime: new Date().toISOString() }
  await deploy('restore', '--into=restored')
  const [from, to] = [documents(), documents('restored')]
  for (const collection of await from.listCollections())
    for (const { ref } of (await collection.get()).docs) await to.doc(ref.path).set((await ref.get()).data()!)
  await Promise.all([from.terminate(), to.terminate()])
  await deploy('--database=restored')
  await readRows({ ask } as Rehearsal)
}

/** @throws Error of the first part that fails, with what was refused on the way */
export async function rehearse(
  rehearsal: Rehearsal,
  all: Part[],
  out: (line: string) => void,
): Promise<void> {
  for (const [title, act] of all) {
    const start = Date.now()
    out(`==== ${title}`)
    const { state } = rehearsal.project.plane
    state.refused.length = 0
    try {
      await act(rehearsal)
    } catch (error) {
      const refused = [...new Set(state.refused)].join('; ')
      throw new Error(`${title}: ${(error as Error).message}\nRefused: ${refused}`, { cause: error })
    }
    out(`==== ${title}: ${((Date.now() - start) / 1000).toFixed(1)} s`)
  }
}

/** "HTTP target": the job's address with a token of its account; the function's address is where its service is. */
async function callJob({ plane: { state }, id }: Project, name: string): Promise<Response> {
  const { httpTarget } = state.get(name) as {
    httpTarget: { uri: string; oidcToken: Record<'serviceAccountEmail' | 'audience', string> }
  }
  const { serviceAccountEmail, audience } = httpTarget.oidcToken
  const { uri } = state.get(`projects/${id}/locations/${region}/services/warm`) as Service
  const to = httpTarget.uri.replace(`https://${region}-${id}.cloudfunctions.net/warm`, `${uri}/`)
  const headers = { Authorization: `Bearer ${identityToken(serviceAccountEmail, audience)}` }
  return fetch(to, { method: 'POST', headers })
}

if (import.meta.main) {
  mkdirSync('.data', { recursive: true })
  const out = (line: string) => console.log(line)
  const rehearsal = await openRehearsal({ out })
  try {
    await rehearse(rehearsal, parts, out)
  } finally {
    await rehearsal.stop()
  }
  process.exit()
}
