/** The stand-in refuses what Google refuses: asked over HTTP as gcloud, bq and Google's clients ask. */
import { request } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { connectRepository } from './builds.ts'
import type { Json, Policy } from './plane.ts'
import { type ControlPlane, newProject, startControlPlane } from './server.ts'

const owner = 'owner@example.com'
const builder = 'lqe-build@my-project.iam.gserviceaccount.com'
const region = 'projects/my-project/locations/europe-west1'
const apis = [
  'bigquery',
  'cloudbuild',
  'cloudfunctions',
  'cloudresourcemanager',
  'cloudscheduler',
  'firestore',
  'iam',
  'iamcredentials',
  'logging',
  'monitoring',
  'run',
]

let plane: ControlPlane
beforeEach(async () => {
  plane = await startControlPlane(newProject('my-project'))
})
afterEach(() => plane.stop())

async function call(
  method: string,
  path: string,
  body?: unknown,
  as = owner,
): Promise<{ status: number; body: Json }> {
  const response = await fetch(`${plane.address}/${path}`, {
    method,
    headers: { Authorization: `Bearer ${as}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Json }
}

/** `409 ALREADY_EXISTS ...` or `200`. */
async function answer(...args: Parameters<typeof call>): Promise<string> {
  const { status, body } = await call(...args)
  const { error } = body as { error?: { status: string; message: string } }
  return error ? `${status} ${error.status} ${error.message}` : String(status)
}

async function enableAll(): Promise<void> {
  const serviceIds = apis.map(api => `${api}.googleapis.com`)
  await call('POST', 'serviceusage/v1/projects/my-project/services:batchEnable', { serviceIds })
}

async function createAccount(accountId: string): Promise<string> {
  return answer('POST', 'iam/v1/projects/my-project/serviceAccounts', { accountId })
}

async function grant(role: string, member = `serviceAccount:${builder}`): Promise<string> {
  const { bindings = [], ...policy } = (
    await call('POST', 'cloudresourcemanager/v1/projects/my-project:getIamPolicy', {})
  ).body as Policy
  const changed = { ...policy, bindings: [...bindings, { role, members: [member] }] }
  return answer('POST', 'cloudresourcemanager/v1/projects/my-project:setIamPolicy', { policy: changed })
}

describe('a caller', () => {
  test('without a token, or of a project that is not there, is refused', async () => {
    expect((await fetch(`${plane.address}/iam/v1/projects/my-project/serviceAccounts`)).status).toBe(401)
    expect(await answer('GET', 'cloudresourcemanager/v1/projects/other')).toMatch(
      /^403 .*not found or permission denied/,
    )
  })

  test('hears which API is not enabled, before anything of permissions', async () => {
    expect(await answer('GET', 'iam/v1/projects/my-project/serviceAccounts')).toMatch(
      /^403 PERMISSION_DENIED iam.googleapis.com has not been used in project \d+ before or it is disabled/,
    )
    await enableAll()
    expect(await answer('GET', 'iam/v1/projects/my-project/serviceAccounts')).toBe('200')
  })

  test('that is a service account needs Resource Manager to be enabled, and a user does not', async () => {
    const path = 'cloudresourcemanager/v1/projects/my-project'
    expect(await answer('GET', path)).toBe('200')
    expect(await answer('GET', path, undefined, builder)).toMatch(
      /^403 .*cloudresourcemanager.googleapis.com has not been used/,
    )
  })

  test('needs a role that contains the permission', async () => {
    await enableAll()
    await createAccount('lqe-build')
    const create = () =>
      answer('POST', 'iam/v1/projects/my-project/serviceAccounts', { accountId: 'another' }, builder)
    const jobs = () => answer('GET', `cloudscheduler/v1/${region}/jobs`, undefined, builder)
    expect(await jobs()).toMatch(
      /^403 .*Permission 'cloudscheduler.jobs.list' denied on resource 'projects\/my-project/,
    )
    expect(await grant('roles/cloudscheduler.admin')).toBe('200')
    expect(await jobs()).toBe('200')
    expect(await create()).toMatch(/^403 .*'iam.serviceAccounts.create'/)
  })

  test('of a method that the stand-in has not hears so', async () => {
    expect(await answer('GET', 'run/v2/projects/my-project/locations/x/services')).toMatch(
      /^400 UNIMPLEMENTED/,
    )
  })
})

describe('a policy', () => {
  beforeEach(enableAll)

  test('is refused with a role or an account that is not there, and where it was changed in between', async () => {
    expect(await grant('roles/no.such')).toMatch(/^400 .*roles\/no.such is not supported/)
    expect(await grant('roles/run.admin')).toMatch(/^400 .*lqe-build@.* does not exist/)
    const policy = { bindings: [], etag: 'an older one' }
    expect(
      await answer('POST', 'cloudresourcemanager/v1/projects/my-project:setIamPolicy', { policy }),
    ).toMatch(/^409 ABORTED There were concurrent policy changes/)
  })

  test('lets only its token creators sign as an account, of which its owner is none', async () => {
    await createAccount('lqe-scheduler')
    await createAccount('lqe-build')
    const account = 'lqe-scheduler@my-project.iam.gserviceaccount.com'
    const sign = (as: string) =>
      answer(
        'POST',
        `iamcredentials/v1/projects/-/serviceAccounts/${account}:generateIdToken`,
        { audience: 'a' },
        as,
      )
    expect(await sign(owner)).toMatch(/^403 .*getOpenIdToken/)
    const bindings = [
      { role: 'roles/iam.serviceAccountOpenIdTokenCreator', members: [`serviceAccount:${builder}`] },
    ]
    const path = `iam/v1/projects/my-project/serviceAccounts/${account}:setIamPolicy`
    expect(await answer('POST', path, { policy: { bindings } })).toBe('200')
    expect(await sign(builder)).toBe('200')
  })
})

describe('Firestore', () => {
  const databases = 'firestore/v1/projects/my-project/databases'
  const field = (name: string) =>
    `${databases}/(default)/collectionGroups/keys/fields/${name}?updateMask=indexConfig`
  const create = () =>
    call('POST', `${databases}?databaseId=(default)`, { deleteProtectionState: 'DELETE_PROTECTION_ENABLED' })
  const end = async ({ body }: { body: Json }) => {
    for (let done = false; !done;)
      ({ done } = (await call('GET', `firestore/v1/${String(body['name'])}`)).body as { done: boolean })
  }
  beforeEach(enableAll)

  test('has no fields without a database, and no database twice', async () => {
    expect(await answer('PATCH', field('a'), {})).toMatch(/^404/)
    await create()
    expect((await create()).status).toBe(409)
  })

  test('changes one field at a time: an overlapping change is 409 until the first is done', async () => {
    await end(await create())
    const first = await call('PATCH', field('a'), { indexConfig: {} })
    expect(first.body['done']).toBe(false)
    expect(await answer('PATCH', field('b'), { indexConfig: {} })).toMatch(
      /^409 ABORTED .*underlying data changed/,
    )
    await end(first)
    expect(await answer('PATCH', field('b'), { indexConfig: {} })).toBe('200')
  })

  test('does not delete a database that is protected', async () => {
    await create()
    expect(await answer('DELETE', `${databases}/(default)`)).toMatch(/^400 .*delete protection/)
    await call('PATCH', `${databases}/(default)`, { deleteProtectionState: 'DELETE_PROTECTION_DISABLED' })
    expect(await answer('DELETE', `${databases}/(default)`)).toBe('200')
  })
})

describe('BigQuery', () => {
  const datasets = 'bigquery/v2/projects/my-project/datasets'
  const columns = [
    { name: 'timestamp', type: 'TIMESTAMP', mode: 'REQUIRED' },
    { name: 'project', type: 'STRING' },
    { name: 'metadata', type: 'RECORD', mode: 'REPEATED', fields: [{ name: 'host', type: 'STRING' }] },
  ]
  const table = (changes: Json) =>
    answer('POST', `${datasets}/logs/tables`, {
      tableReference: { tableId: 't' },
      schema: { fields: columns },
      timePartitioning: { type: 'HOUR', field: 'timestamp' },
      ...changes,
    })
  const update = (changes: Json) => answer('PATCH', `${datasets}/logs/tables/t`, changes)
  beforeEach(async () => {
    await enableAll()
    await call('POST', datasets, { datasetReference: { projectId: 'my-project', datasetId: 'logs' } })
  })

  test('clusters by top-level columns that are not repeated, by the partition column too, and by four at most', async () => {
    expect(await table({ clustering: { fields: ['metadata'] } })).toMatch(
      /^400 .*cannot be a clustering field/,
    )
    expect(await table({ clustering: { fields: ['none'] } })).toMatch(/^400/)
    expect(await table({ clustering: { fields: ['project', 'timestamp', 'a', 'b', 'c'] } })).toMatch(
      /^400 .*at most 4/,
    )
    expect(await table({ clustering: { fields: ['project', 'timestamp'] } })).toBe('200')
    expect(await table({})).toMatch(/^409 .*Already Exists/)
  })

  test('keeps columns, types and partitions of a table, and takes new columns that may be missing', async () => {
    await table({})
    const [timestamp, project, metadata] = columns
    expect(await update({ schema: { fields: [timestamp, project] } })).toMatch(
      /^400 .*metadata is missing in new schema/,
    )
    const other = { ...metadata, fields: [{ name: 'host', type: 'INTEGER' }] }
    expect(await update({ schema: { fields: [timestamp, project, other] } })).toMatch(
      /^400 .*metadata.host has changed type/,
    )
    const required = { name: 'new', type: 'STRING', mode: 'REQUIRED' }
    expect(await update({ schema: { fields: [...columns, required] } })).toMatch(
      /^400 .*Cannot add required fields/,
    )
    expect(await update({ schema: { fields: [...columns, { ...required, mode: 'NULLABLE' }] } })).toBe('200')
    expect(await update({ timePartitioning: { type: 'DAY', field: 'timestamp' } })).toMatch(
      /^400 .*Cannot change partitioning/,
    )
  })

  test('makes a view of tables that are there, and puts none in the place of a table', async () => {
    const view = (id: string, of: string) => {
      const query = `CREATE OR REPLACE VIEW \`my-project\`.\`logs\`.\`${id}\` AS SELECT * FROM \`my-project.logs.${of}\``
      const job = { configuration: { query: { query } }, jobReference: { jobId: 'j' } }
      return answer('POST', 'bigquery/v2/projects/my-project/jobs', job)
    }
    expect(await view('v', 't')).toMatch(/^404 .*Not found: Table my-project:logs\.t/)
    await table({})
    expect([await view('v', 't'), await view('v', 't')]).toEqual(['200', '200'])
    expect(await view('t', 'v')).toMatch(/^400 .*currently a TABLE/)
  })

  test('is the destination of a sink where the dataset is there', async () => {
    const sinks = 'logging/v2/projects/my-project/sinks'
    const sink = (id: string, changes: Json = {}) => {
      const destination = `bigquery.googleapis.com/projects/my-project/datasets/${id}`
      return answer('POST', sinks, { name: 's', destination, filter: 'severity=ERROR', ...changes })
    }
    expect(await sink('other')).toMatch(/^404/)
    expect(await sink('logs', { filter: '' })).toMatch(/^400/)
    expect([await sink('logs'), await sink('logs')]).toEqual(['200', expect.stringMatching(/^409/)])
    expect((await call('GET', `${sinks}/s`)).body['writerIdentity']).toMatch(
      /^serviceAccount:service-\d+@gcp-sa-logging/,
    )
  })

  test('does not delete a dataset that has tables, unless told to', async () => {
    await table({})
    expect(await answer('DELETE', `${datasets}/logs`)).toMatch(/^400 .*still in use/)
    expect(await answer('DELETE', `${datasets}/logs?deleteContents=true`)).toBe('200')
  })
})

describe('the scheduler and Cloud Build', () => {
  const account = 'lqe-scheduler@my-project.iam.gserviceaccount.com'
  const job = { name: `${region}/jobs/j`, httpTarget: { oidcToken: { serviceAccountEmail: account } } }
  const trigger = {
    name: 't',
    github: { owner: 'a', name: 'b' },
    serviceAccount: `projects/my-project/serviceAccounts/${builder}`,
  }
  beforeEach(enableAll)

  test('take an account that is there, from who may act as it', async () => {
    const create = (as: string) => answer('POST', `cloudscheduler/v1/${region}/jobs`, job, as)
    expect(await create(owner)).toMatch(/^400 .*does not exist/)
    await createAccount('lqe-scheduler')
    await createAccount('lqe-build')
    await grant('roles/cloudscheduler.admin')
    expect(await create(builder)).toMatch(/^403 .*'iam.serviceAccounts.actAs'/)
    expect(await create(owner)).toBe('200')
    expect(await create(owner)).toMatch(/^409/)
  })

  test('make a trigger of a repository that is connected', async () => {
    await createAccount('lqe-build')
    const create = () => answer('POST', `cloudbuild/v1/${region}/triggers`, trigger)
    expect(await create()).toMatch(/^400 FAILED_PRECONDITION .*Please connect/)
    connectRepository(plane.state, `${region}/github/a/b`)
    expect(await create()).toBe('200')
    expect(await create()).toMatch(/^409/)
  })
})

describe('functions', () => {
  const account = 'lqe-query@my-project.iam.gserviceaccount.com'
  const storageSource = { bucket: 'gcf-v2-uploads-europe-west1', object: 'x.zip' }
  const wanted = (changes: Json = {}) => ({
    buildConfig: {
      runtime: 'nodejs24',
      serviceAccount: `projects/my-project/serviceAccounts/${builder}`,
      source: { storageSource },
      ...changes,
    },
    serviceConfig: { serviceAccountEmail: account },
  })
  const create = (changes?: Json) =>
    call('POST', `cloudfunctions/v2/${region}/functions?functionId=query`, wanted(changes))
  const refusal = async (changes?: Json) => JSON.stringify((await create(changes)).body)
  const upload = () =>
    fetch(`${plane.address}/upload/${storageSource.bucket}/${storageSource.object}`, {
      method: 'PUT',
      body: 'zip',
    })
  const service = 'run/apis/serving.knative.dev/v1/namespaces/my-project/services/query'
  beforeEach(async () => {
    await enableAll()
    await createAccount('lqe-query')
    await createAccount('lqe-build')
  })

  test('need a runtime that there is, their source, and a builder with its role', async () => {
    expect(await refusal({ runtime: 'nodejs20' })).toContain('nodejs20 is not supported')
    expect(await refusal()).toContain('The source was not uploaded')
    await upload()
    const { body } = await create()
    const { error } = (await call('GET', `cloudfunctions/v2/${String(body['name'])}`)).body
    expect(
      error ?? (await call('GET', `cloudfunctions/v2/${String(body['name'])}`)).body['error'],
    ).toMatchObject({
      message: expect.stringMatching(/Build failed: .* lacks logging.logEntries.create/),
    })
  })

  test('are a service whose traffic goes to revisions that there are, all of it', async () => {
    await upload()
    await grant('roles/cloudbuild.builds.builder')
    await create()
    const { spec, ...rest } = plane.state.resources[`${region}/services/query`]! as { spec: Json }
    const put = (traffic: Json[]) => putService({ ...rest, spec: { ...spec, traffic } })
    expect(await put([{ revisionName: 'query-00001-aab', percent: 90 }])).toMatch(/^400 .*sum to 100/)
    expect(await put([{ revisionName: 'query-00009-zzz', percent: 100 }])).toMatch(/^404 .*is not found/)
    expect(await put([{ revisionName: 'query-00001-aab', percent: 100 }])).toBe('200')
  })

  /** As gcloud does, through the proxy: the region is in the host's name. */
  async function putService(body: Json): Promise<string> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(plane.address)
      const path = `http://europe-west1-run.test/${service}`
      const req = request(
        { hostname, port, method: 'PUT', path, headers: { Authorization: `Bearer ${owner}` } },
        res => {
          let text = ''
          res.on('data', (chunk: Buffer) => (text += chunk.toString()))
          res.on('end', () => {
            const { error } = JSON.parse(text) as { error?: { status: string; message: string } }
            resolve(error ? `${res.statusCode} ${error.status} ${error.message}` : String(res.statusCode))
          })
        },
      )
      req.on('error', reject)
      req.end(JSON.stringify(body))
    })
  }
})

describe('monitoring', () => {
  const metrics = 'logging/v2/projects/my-project/metrics'
  const policies = 'monitoring/v3/projects/my-project/alertPolicies'
  const channels = 'monitoring/v3/projects/my-project/notificationChannels'
  const metric = { name: 'failures', filter: 'severity>=ERROR' }
  const filter = 'resource.type="cloud_run_revision" AND metric.type="logging.googleapis.com/user/failures"'
  const policy = (changes: Json = {}, more: Json = {}) => ({
    displayName: 'Failures',
    combiner: 'OR',
    conditions: [{ conditionThreshold: { filter, duration: '60s', ...changes } }],
    ...more,
  })
  const make = (body: Json) => answer('POST', policies, body)

  test('has policies about metrics that there are, and that are known by then', async () => {
    await enableAll()
    expect(await make(policy())).toMatch(/^404 NOT_FOUND Cannot find metric/)
    const query = 'sum(increase(logging_googleapis_com:user_failures_sum[1h])) > 1'
    const conditions = [{ conditionPrometheusQueryLanguage: { query } }]
    expect(await make(policy({}, { conditions }))).toMatch(/^404 NOT_FOUND Cannot find metric/)
    plane.state.projects['my-project']!.news = []
    expect(await answer('POST', metrics, metric)).toBe('200')
    expect(await make(policy())).toMatch(/up to 10 minutes/)
    expect(await make(policy())).toBe('200')
  })

  test.each([
    [policy({ duration: '90s' }), /duration 90s/],
    [policy({ filter: 'metric.type="a"' }), /the resource type/],
    [policy({ filter: 'resource.type="a"' }), /the metric type/],
    [policy({}, { combiner: undefined }), /combiner is required/],
    [policy({}, { conditions: [] }), /one to six/],
    [policy({}, { notificationChannels: ['projects/my-project/notificationChannels/1'] }), /not found/],
  ])('refuses a policy that is not whole: %#', async (body, expected) => {
    await enableAll()
    await answer('POST', metrics, metric)
    expect(await make(body)).toMatch(expected)
  })

  test('keeps a channel that a policy uses', async () => {
    await enableAll()
    await answer('POST', metrics, metric)
    const { name } = (await call('POST', channels, { type: 'email', labels: { email_address: 'a@b.c' } }))
      .body
    await make(policy({}, { notificationChannels: [name] }))
    expect(await answer('DELETE', `monitoring/v3/${String(name)}`)).toMatch(/^400 FAILED_PRECONDITION/)
  })

  test('has metrics with an extractor for each label and for a distribution', async () => {
    await enableAll()
    const metricDescriptor = { valueType: 'DISTRIBUTION', labels: [{ key: 'a' }] }
    expect(await answer('POST', metrics, { ...metric, metricDescriptor })).toMatch(/^400 .*Label keys/)
    const labelExtractors = { a: 'EXTRACT(jsonPayload.a)' }
    expect(await answer('POST', metrics, { ...metric, metricDescriptor, labelExtractors })).toMatch(
      /^400 .*value_extractor/,
    )
  })
})
