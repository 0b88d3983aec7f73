/** For tests: states of a project that would take set-up and a deployment minutes to reach with gcloud. */
import { connectRepository } from '../builds.ts'
import type { Json, State } from '../plane.ts'
import { newProject } from '../server.ts'

export const region = 'europe-west1'
const project = 'projects/my-project'
const buildRoles = [
  'cloudbuild.builds.builder',
  'cloudfunctions.developer',
  'run.admin',
  'cloudscheduler.admin',
]

/** Flags of our scripts and gcloud's, for the project of these states. */
export const where = ['--project=my-project', `--region=${region}`]

export function email(name: string): string {
  return `lqe-${name}@my-project.iam.gserviceaccount.com`
}

/** All APIs that set-up enables are enabled, and nothing else is there. */
export function withApis(): State {
  const state = newProject('my-project')
  const names = `artifactregistry bigquery cloudbuild cloudfunctions cloudresourcemanager cloudscheduler firestore iam
    iamcredentials logging monitoring run serviceusage storage`
  state.projects['my-project']!.apis = names.split(/\s+/).map(name => `${name}.googleapis.com`)
  return state
}

/** With the four accounts, and those rights of the build's that a deployment needs. */
export function withAccounts(): State {
  const state = withApis()
  const members = [`serviceAccount:${email('build')}`]
  for (const name of ['query', 'warm', 'scheduler', 'build']) {
    const resource = `${project}/serviceAccounts/${email(name)}`
    state.resources[resource] = { name: resource, email: email(name) }
    state.policies[resource] = { bindings: [{ role: 'roles/iam.serviceAccountUser', members }] }
  }
  state.policies[project]!.bindings!.push(...buildRoles.map(role => ({ role: `roles/${role}`, members })))
  return state
}

/** Both functions deployed twice: revision 1 serves by name, revision 2 has no traffic. */
export function withRevisions(): State {
  const state = withAccounts()
  for (const name of ['query', 'warm']) {
    const service = `${project}/locations/${region}/services/${name}`
    const revisions = [1, 2].map(number => `${name}-0000${number}-abc`)
    for (const revision of revisions)
      state.resources[`${service}/revisions/${revision}`] = { metadata: { name: revision } }
    const traffic = [{ revisionName: revisions[0]!, percent: 100 }]
    const [ready] = ['Ready'].map(type => ({ type, status: 'True' }))
    state.resources[service] = {
      apiVersion: 'serving.knative.dev/v1',
      kind: 'Service',
      metadata: {
        name,
        namespace: '123456789012',
        generation: 2,
        annotations: {},
        labels: { 'cloud.googleapis.com/location': region },
      },
      spec: {
        template: {
          metadata: {},
          spec: { serviceAccountName: email(name), containers: [{ image: 'built' }] },
        },
        traffic,
      },
      status: {
        observedGeneration: 2,
        conditions: [ready],
        latestReadyRevisionName: revisions[1],
        latestCreatedRevisionName: revisions[1],
        traffic,
        url: `https://${name}.run.app`,
        address: { url: `https://${name}.run.app` },
      },
    } satisfies Json
  }
  return state
}

/** A repository of GitHub to which somebody has connected the Cloud Build app. */
export function withRepository(state: State, name: string): State {
  connectRepository(state, `${project}/locations/${region}/github/${name}`)
  return state
}

/** Share of the traffic by revision, and the tags: `query-00001-abc 100`, `query-00002-abc candidate`. */
export function trafficOf(state: State, name: string): string[] {
  const { spec } = state.resources[`${project}/locations/${region}/services/${name}`] as {
    spec: { traffic: { revisionName?: string; latestRevision?: boolean; percent?: number; tag?: string }[] }
  }
  return spec.traffic.map(({ revisionName, latestRevision, percent, tag }) =>
    [latestRevision ? 'latest' : revisionName, percent, tag].filter(Boolean).join(' '),
  )
}
