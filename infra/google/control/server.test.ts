/** The stand-in refuses what Google refuses: asked over HTTP as the deployment and gcloud ask. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { testWithGcloud } from '../testing/gcloud.ts'
import { type Json, type Policy, State } from './plane.ts'
import { type ControlPlane, startControlPlane } from './server.ts'
import { startRevision } from './serving.ts'

const owner = 'owner@example.com'
const builder = 'lqe-build@my-project.iam.gserviceaccount.com'
const region = 'projects/my-project/locations/europe-west1'
const apis = [
  'artifactregistry',
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
  'orgpolicy',
  'run',
  'storage',
]

/** An archive as gcloud uploads it, of a function that `text` is. */
function sourceWith(text: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'source-'))
  writeFileSync(join(folder, 'package.json'), '{"main": "index.js"}')
  writeFileSync(join(folder, 'index.js'), text)
  execFileSync('zip', ['-q', 'source.zip', 'package.json', 'index.js'], { cwd: folder })
  const zip = readFileSync(join(folder, 'source.zip'))
  rmSync(folder, { recursive: true })
  return zip
}

let plane: ControlPlane
beforeEach(async () => {
  plane = await startControlPlane(new State('my-project'))
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
    expect(await grant('roles/run.invoker')).toMatch(/^400 .*lqe-build@.* does not exist/)
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

describe('a project', () => {
  const project = 'cloudresourcemanager/v1/projects/my-project'

  test('without billing enables no API', async () => {
    const serviceIds = ['run.googleapis.com']
    const enable = () =>
      answer('POST', 'serviceusage/v1/projects/my-project/services:batchEnable', { serviceIds })
    const billed = async () => (await call('GET', 'cloudbilling/v1/projects/my-project/billingInfo')).body
    plane.state.projects['my-project']!.isBilled = false
    expect(await billed()).toMatchObject({ billingEnabled: false })
    expect(await enable()).toMatch(/^400 FAILED_PRECONDITION Billing account for project '\d+' is not found/)
    plane.state.projects['my-project']!.isBilled = true
    expect([await enable(), await billed()]).toEqual([
      '200',
      expect.objectContaining({ billingEnabled: true }),
    ])
  })

  test('says which permissions its caller has', async () => {
    const permissions = ['run.services.setIamPolicy', 'iam.serviceAccounts.getOpenIdToken']
    const asked = async (as: string) =>
      (await call('POST', `${project}:testIamPermissions`, { permissions }, as)).body['permissions']
    expect(await asked(owner)).toEqual(['run.services.setIamPolicy'])
    expect(await asked('guest@example.com')).toEqual([])
  })

  test('tells a policy of its organization by the API of its kind', async () => {
    await enableAll()
    const { constraints } = plane.state.projects['my-project']!
    constraints['iam.allowedPolicyMemberDomains'] = { listPolicy: { allowedValues: ['C0abc'] } }
    constraints['iam.managed.allowedPolicyMembers'] = { enforce: true }
    const first = (constraint: string) =>
      call('POST', `${project}:getEffectiveOrgPolicy`, { constraint: `constraints/${constraint}` })
    expect((await first('iam.allowedPolicyMemberDomains')).body).toMatchObject({
      listPolicy: { allowedValues: ['C0abc'] },
    })
    expect(await first('iam.managed.allowedPolicyMembers')).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('only supported with Org Policy V2 API') } },
    })
    const second = `orgpolicy/v2/projects/my-project/policies/iam.managed.allowedPolicyMembers`
    expect((await call('GET', `${second}:getEffectivePolicy`)).body).toMatchObject({
      spec: { rules: [{ enforce: true }] },
    })
  })

  test.each(['iam.allowedPolicyMemberDomains', 'iam.managed.allowedPolicyMembers'])(
    'with the constraint %s has no policy with allUsers',
    async constraint => {
      await enableAll()
      expect(await grant('roles/run.invoker', 'allUsers')).toBe('200')
      plane.state.projects['my-project']!.constraints[constraint] = { enforce: true }
      expect(await grant('roles/run.invoker', 'allUsers')).toMatch(/^400 FAILED_PRECONDITION .*organization/)
    },
  )
})

describe('Firestore', () => {
  const databases = 'firestore/v1/projects/my-project/databases'
  const field = (name: string) =>
    `${databases}/(default)/collectionGroups/keys/fields/${name}?updateMask=indexConfig`
  const create = () =>
    call('POST', `${databases}?databaseId=(default)`, { deleteProtectionState: 'DELETE_PROTECTION_ENABLED' })
  const wait = async (path: string, body: Json) => end(await call('PATCH', path, body))
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
    const off = { deleteProtectionState: 'DELETE_PROTECTION_DISABLED' }
    expect(await answer('PATCH', `${databases}/(default)`, off)).toMatch(/^400 .*update_mask is required/)
    await call('PATCH', `${databases}/(default)?updateMask=deleteProtectionState`, off)
    expect(await answer('DELETE', `${databases}/(default)`)).toBe('200')
  })

  test('lets one field of a collection group expire', async () => {
    await end(await create())
    const expiry = (name: string) => field(name).replace('indexConfig', 'ttlConfig')
    await wait(expiry('a'), { ttlConfig: {} })
    expect(await answer('PATCH', expiry('b'), { ttlConfig: {} })).toMatch(
      /^400 .*Only one field of a collection group may expire/,
    )
  })

  test('lists the fields that are asked for, by the two filters that there are', async () => {
    await end(await create())
    await wait(field('a'), { indexConfig: { indexes: [] } })
    await wait(field('b').replace('indexConfig', 'ttlConfig'), { ttlConfig: {} })
    const all = `${databases}/(default)/collectionGroups/-/fields?filter=`
    const found = async (filter: string) => {
      const { fields } = (await call('GET', `${all}${filter}`)).body as { fields: { name: string }[] }
      return fields.map(({ name }) => name.split('/').at(-1))
    }
    expect(await found('indexConfig.usesAncestorConfig:false')).toEqual(['a'])
    expect(await found('ttlConfig:*')).toEqual(['b'])
    expect(await answer('GET', `${all}name:a`)).toMatch(/^400 .*filter name:a is not supported/)
  })

  test('has one daily schedule of backups, which are kept for 14 weeks at most', async () => {
    await end(await create())
    const schedules = `${databases}/(default)/backupSchedules`
    const daily = (days: number) =>
      answer('POST', schedules, { retention: `${days * 86_400}s`, dailyRecurrence: {} })
    expect(await daily(99)).toMatch(/^400 .*at most 14 weeks/)
    expect(await daily(98)).toBe('200')
    expect(await daily(7)).toMatch(/^409 ALREADY_EXISTS/)
    const change = (days: number) =>
      answer('PATCH', `${schedules}/daily?updateMask=retention`, { retention: `${days * 86_400}s` })
    expect([await change(7), await change(99)]).toEqual(['200', expect.stringMatching(/^400/)])
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
    expect(await table({})).toMatch(/^409 /)
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
    const view = (of: string) => ({ view: { query: `SELECT * FROM \`my-project.logs.${of}\`` } })
    const create = (of: string) =>
      answer('POST', `${datasets}/logs/tables`, { tableReference: { tableId: 'v' }, ...view(of) })
    const change = (id: string, of: string) => answer('PATCH', `${datasets}/logs/tables/${id}`, view(of))
    expect(await create('t')).toMatch(/^404 .*Not found: Table my-project:logs\.t /)
    await table({})
    expect([await create('t'), await create('t')]).toEqual(['200', expect.stringMatching(/^409/)])
    expect([await change('v', 't'), await change('v', 'u')]).toEqual(['200', expect.stringMatching(/^404/)])
    expect(await change('t', 'v')).toMatch(/^400 .*is a TABLE/)
  })

  test('refuses a view of a column that its table has not, made or changed', async () => {
    await table({})
    const view = (column: string) => ({
      view: { query: `SELECT timestamp,\n  ${column} FROM \`my-project.logs.t\`` },
    })
    const create = async (column: string) =>
      call('POST', `${datasets}/logs/tables`, { tableReference: { tableId: 'v' }, ...view(column) })
    const refused = {
      status: 400,
      body: {
        error: { errors: [{ reason: 'invalidQuery', message: 'Unrecognized name: colour at [2:3]' }] },
      },
    }
    expect(await create('colour')).toMatchObject(refused)
    expect(await create('project')).toMatchObject({ status: 200 })
    expect(await call('PATCH', `${datasets}/logs/tables/v`, view('colour'))).toMatchObject(refused)
  })

  test('lets in who is in the dataset’s list of access, which is changed as it was read', async () => {
    await createAccount('lqe-build')
    const logs = `${datasets}/logs`
    const read = () => answer('GET', `${logs}/tables`, undefined, builder)
    const entry = { role: 'READER', userByEmail: builder }
    const { etag } = (await call('GET', logs)).body
    expect(await read()).toMatch(/^403 .*'bigquery.tables.list'/)
    expect(await answer('PATCH', logs, { access: [{ ...entry, role: 'OWNERS' }] })).toMatch(/^400 .*OWNERS/)
    const stranger = { ...entry, userByEmail: 'lqe-none@my-project.iam.gserviceaccount.com' }
    expect(await answer('PATCH', logs, { access: [stranger] })).toMatch(/^400 .*does not exist/)
    expect(await answer('PATCH', logs, { access: [entry], etag })).toBe('200')
    expect(await read()).toBe('200')
    expect(await answer('PATCH', logs, { access: [], etag })).toMatch(/^409 ABORTED Precondition Failed/)
    expect(await answer('PATCH', logs, { access: [] })).toBe('200')
    expect(await read()).toMatch(/^403/)
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
    plane.state.resources[`${region}/github/a/b`] = {}
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
  const upload = (body: string | Buffer = 'PK package.json') =>
    fetch(`${plane.address}/upload/${storageSource.bucket}/${storageSource.object}`, { method: 'PUT', body })
  const service = `run/v2/${region}/services/query`
  beforeEach(async () => {
    await enableAll()
    await createAccount('lqe-query')
    await createAccount('lqe-build')
  })

  test('need a runtime that there is, their source, and a builder with its role', async () => {
    expect(await refusal({ runtime: 'nodejs20' })).toContain('nodejs20 is not supported')
    expect(await refusal()).toContain('The source was not uploaded')
    await upload('a tar')
    expect(await refusal()).toContain('The source is no archive')
    await upload('PK go.mod')
    expect(await refusal()).toContain('no buildpack groups passed detection')
    await upload()
    const { body } = await create()
    const { error } = (await call('GET', `cloudfunctions/v2/${String(body['name'])}`)).body
    expect(
      error ?? (await call('GET', `cloudfunctions/v2/${String(body['name'])}`)).body['error'],
    ).toMatchObject({
      message: expect.stringMatching(/Build failed: .* lacks logging.logEntries.create/),
    })
  })

  test.each([
    ['timeout', { timeoutSeconds: 3601 }],
    ['concurrency', { maxInstanceRequestConcurrency: 1001 }],
    ['needs a CPU', { maxInstanceRequestConcurrency: 80, availableCpu: '500m' }],
    ['needs 2 CPUs', { availableMemory: '8Gi', availableCpu: '1' }],
    ['at most 32Gi', { availableMemory: '64Gi', availableCpu: '8' }],
    ['min instances', { minInstanceCount: 3, maxInstanceCount: 2 }],
    ['reserved environment variable', { environmentVariables: { PORT: '1' } }],
  ])('are refused a service past its limits: %s', async (words, settings) => {
    await upload()
    await grant('roles/cloudbuild.builds.builder')
    const { serviceConfig, ...rest } = wanted()
    const body = { ...rest, serviceConfig: { ...serviceConfig, ...settings } }
    expect(await answer('POST', `cloudfunctions/v2/${region}/functions?functionId=query`, body)).toContain(
      words,
    )
  })

  test('need the APIs that their service calls', async () => {
    await upload()
    await grant('roles/cloudbuild.builds.builder')
    const project = plane.state.projects['my-project']!
    project.apis = project.apis.filter(name => name !== 'artifactregistry.googleapis.com')
    const { name } = (await create()).body
    await call('GET', `cloudfunctions/v2/${String(name)}`)
    expect((await call('GET', `cloudfunctions/v2/${String(name)}`)).body['error']).toMatchObject({
      message: expect.stringContaining('artifactregistry.googleapis.com is not enabled'),
    })
  })

  test('need their entry point in their source: what serves goes on serving where it is missing', async () => {
    await plane.stop()
    const running: { stop(): Promise<void> }[] = []
    plane = await startControlPlane(new State('my-project'), async (revision, state) => {
      const one = await startRevision(revision, state, {}, () => {})
      running.push(one)
      return one.url
    })
    await enableAll()
    for (const name of ['lqe-query', 'lqe-build']) await createAccount(name)
    await grant('roles/cloudbuild.builds.builder')
    await upload(
      sourceWith("require('@google-cloud/functions-framework').http('query', (_, res) => res.send('up'))"),
    )
    const end = async ({ body: { name } }: { body: Json }) => {
      const operation = () => call('GET', `cloudfunctions/v2/${String(name)}`)
      await operation()
      return (await operation()).body
    }
    expect(await end(await create({ entryPoint: 'query' }))).toMatchObject({ response: { state: 'ACTIVE' } })
    const body = wanted({ entryPoint: 'quary' })
    const again = await call(
      'PATCH',
      `cloudfunctions/v2/${region}/functions/query?updateMask=buildConfig`,
      body,
    )
    expect((await end(again))['error']).toMatchObject({
      message: expect.stringMatching(/^Container Healthcheck failed for quary/),
    })
    expect((await call('GET', service)).body).toMatchObject({
      trafficStatuses: [{ revision: 'query-00001-abc' }],
    })
    for (const one of running) await one.stop()
  })

  test('are a service whose traffic goes to revisions that there are, all of it, with a tag once', async () => {
    await upload()
    await grant('roles/cloudbuild.builds.builder')
    await create()
    const patch = (traffic: Json[], mask = 'traffic') =>
      answer('PATCH', `${service}?updateMask=${mask}`, { traffic })
    const target = (revision: string, percent: number, tag?: string) => ({
      type: 'TRAFFIC_TARGET_ALLOCATION_TYPE_REVISION',
      revision,
      percent,
      ...(tag ? { tag } : {}),
    })
    const first = 'query-00001-abc'
    expect(await patch([target(first, 90)])).toMatch(/^400 .*sum to 100/)
    expect(await patch([target('query-00009-zzz', 100)])).toMatch(/^404 .*is not found/)
    expect(await patch([target(first, 100, 'a'), target(first, 0, 'a')])).toMatch(/^400 .*duplicate tag/)
    expect(await patch([target(first, 100)], 'template')).toMatch(/^400 .*not template/)
    expect(await patch([target(first, 100), target(first, 0, 'a')])).toBe('200')
    expect((await call('GET', service)).body).toMatchObject({
      trafficStatuses: [
        { revision: first, percent: 100 },
        { tag: 'a', uri: expect.stringMatching('a---query.europe-west1$') },
      ],
    })
  })

  test('keep the traffic of revisions by name, and give the newest that of a service without', async () => {
    await upload()
    await grant('roles/cloudbuild.builds.builder')
    await create()
    const again = () =>
      call('PATCH', `cloudfunctions/v2/${region}/functions/query?updateMask=buildConfig`, wanted())
    const serving = async () => {
      const { trafficStatuses } = (await call('GET', service)).body as {
        trafficStatuses: { revision: string }[]
      }
      return trafficStatuses.map(({ revision }) => revision)
    }
    await again()
    expect(await serving()).toEqual(['query-00002-abc'])
    const byName = {
      type: 'TRAFFIC_TARGET_ALLOCATION_TYPE_REVISION',
      revision: 'query-00002-abc',
      percent: 100,
    }
    await call('PATCH', `${service}?updateMask=traffic`, { traffic: [byName] })
    await again()
    expect(await serving()).toEqual(['query-00002-abc'])
  })

  test('are opened without their check by who may set a policy, where no constraint demands the check', async () => {
    await upload()
    await grant('roles/cloudbuild.builds.builder')
    await create()
    const open = (as: string) =>
      answer('PATCH', `${service}?updateMask=invokerIamDisabled`, { invokerIamDisabled: true }, as)
    await grant('roles/cloudfunctions.developer')
    expect(await open(builder)).toMatch(/^403 .*'run.services.setIamPolicy'/)
    plane.state.projects['my-project']!.constraints['run.managed.requireInvokerIam'] = { enforce: true }
    expect(await open(owner)).toMatch(/^400 FAILED_PRECONDITION .*requireInvokerIam/)
    plane.state.projects['my-project']!.constraints = {}
    expect(await open(owner)).toBe('200')
  })
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
    [policy({}, { combiner: undefined }), /conditions and a combiner/],
    [policy({}, { conditions: [] }), /conditions and a combiner/],
    [policy({ filter: 'metric.type="run.googleapis.com/requests"' }), /Cannot find metric/],
    [policy({}, { notificationChannels: ['projects/my-project/notificationChannels/1'] }), /Not found/],
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
})

describe('the shape of a request', () => {
  const testGcloud = testWithGcloud()
  const service = `run/v2/${region}/services/query`
  const job = `cloudscheduler/v1/${region}/jobs`
  beforeEach(enableAll)

  testGcloud.each([
    ['no such method', 'PUT', service, {}, /run has no method PUT v2\//],
    ['no such version', 'GET', `run/v9/${region}/services/query`, undefined, /^400 UNIMPLEMENTED/],
    ['an unknown field', 'POST', job, { nmae: 'j' }, /Unknown name "nmae" at '': Cannot find field/],
    [
      'an unknown field further in',
      'POST',
      job,
      { httpTarget: { oidcToken: { account: 'a' } } },
      /Unknown name "account" at 'httpTarget\.oidcToken': Cannot find field/,
    ],
    [
      'an unknown parameter',
      'GET',
      `${job}?size=1`,
      undefined,
      /Unknown name "size": Cannot bind query parameter/,
    ],
    [
      'a wrong word',
      'POST',
      job,
      { httpTarget: { httpMethod: 'SEND' } },
      /Invalid value at 'httpTarget\.httpMethod': "SEND"/,
    ],
    [
      'a text for a number',
      'POST',
      job,
      { retryConfig: { retryCount: 'one' } },
      /Invalid value at 'retryConfig\.retryCount': "one"/,
    ],
    ['a number for a text', 'POST', job, { schedule: 5 }, /Invalid value at 'schedule': 5/],
    ['one for a list', 'PATCH', `${service}?updateMask=traffic`, { traffic: {} }, /'traffic': not a list/],
    ['an object for nothing', 'POST', job, { httpTarget: 'a' }, /'httpTarget': not an object/],
    ['a body that is not taken', 'DELETE', `${job}/j`, { name: 'j' }, /takes no body/],
    [
      'an unknown path in a mask',
      'PATCH',
      `${service}?updateMask=trafic`,
      {},
      /field path in update_mask: trafic/,
    ],
    [
      'an unknown path further in',
      'PATCH',
      `cloudfunctions/v2/${region}/functions/query?updateMask=service_config.cpu`,
      {},
      /field path in update_mask: service_config\.cpu/,
    ],
  ] as const)('is refused with %s', async (_, method, path, body, expected) => {
    const said = await answer(method, path, body)
    expect([said, said]).toEqual([expect.stringMatching(/^400 /), expect.stringMatching(expected)])
  })

  test('is let through where it is Google’s, to be asked whether the thing is there', async () => {
    const wanted = { name: `${region}/jobs/j`, attemptDeadline: '30s', httpTarget: { headers: { any: 'x' } } }
    expect(await answer('POST', `${job}?fields=name`, wanted)).toBe('200')
    expect(await answer('PATCH', `${job}/j?updateMask=http_target.headers.other`, wanted)).toBe('200')
    const mask = 'serviceConfig.availableCpu,buildConfig.environmentVariables.a'
    expect(await answer('PATCH', `cloudfunctions/v2/${region}/functions/q?updateMask=${mask}`, {})).toMatch(
      /^404/,
    )
  })
})
