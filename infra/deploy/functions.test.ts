/** Who gets the traffic, and who may call, in a project on the stand-in; and what gcloud is told. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { loadConfig, settings as ofService } from '../../shared/config.ts'
import { changes, openProject, type Project } from '../google/control/testing/project.ts'
import {
  deployArguments,
  deployFunctions,
  environmentOf,
  holdTraffic,
  rollback,
  sendTraffic,
  type Service,
  setUpCallers,
  tagCandidates,
} from './functions.ts'
import { functionNames } from './settings.ts'
import { connect, deployBoth, setUp } from './testing/client.ts'

const services = 'projects/my-project/locations/europe-west1/services'

let project: Project
beforeEach(async () => {
  project = await openProject()
  await setUp(connect(project), ['APIs', 'accounts', 'rights'])
})
afterEach(() => project.close())

/** Share of the traffic by revision, and the tags: `query-00001-abc 100`, `query-00002-abc candidate`. */
function trafficOf(name: string): string[] {
  const { traffic } = project.plane.state.resources[`${services}/${name}`] as Service
  return traffic!.map(({ revision = 'latest', percent, tag }) =>
    [revision, percent, tag].filter(Boolean).join(' '),
  )
}

/** As `deploy.ts` does it. */
async function release({ send = true } = {}) {
  const client = connect(project)
  const { google, site } = client
  await holdTraffic(google, site)
  await deployBoth(client)
  const addresses = await tagCandidates(google, site)
  if (send) await sendTraffic(google, site)
  return addresses
}

describe('a release', () => {
  test('leaves the traffic where it is until the new revisions, which have addresses of their own, are sent it', async () => {
    await release()
    expect(trafficOf('query')).toEqual(['query-00001-abc 100'])
    const { query, warm } = await release({ send: false })
    expect([query, warm]).toEqual(
      functionNames.map(name => expect.stringMatching(`/candidate---${name}\\.europe-west1$`)),
    )
    for (const name of functionNames)
      expect(trafficOf(name)).toEqual([`${name}-00001-abc 100`, `${name}-00002-abc candidate`])
    const { google, site } = connect(project)
    await sendTraffic(google, site)
    for (const name of functionNames)
      expect(trafficOf(name)).toEqual([`${name}-00002-abc 100`, `${name}-00001-abc previous`])
  })

  test('that did not pass is followed by one that does', async () => {
    await release()
    await release({ send: false })
    await release()
    expect(trafficOf('warm')).toEqual(['warm-00003-abc 100', 'warm-00001-abc previous'])
  })

  test('holds the traffic before it deploys', async () => {
    await deployBoth(connect(project))
    const { google, site, said } = connect(project, {}, { dryRun: true })
    await deployFunctions(google, site)
    const held = said.indexOf('query: its traffic stays with the revision that serves')
    expect([held >= 0, said.indexOf('function query: deployed') > held]).toEqual([true, true])
  })

  test('holds a traffic that goes to the newest revision, and leaves a split alone', async () => {
    const client = connect(project)
    const { google, site } = client
    await deployBoth(client)
    expect(trafficOf('query')).toEqual(['latest 100'])
    await holdTraffic(google, site)
    expect(trafficOf('query')).toEqual(['query-00001-abc 100'])
    await deployBoth(client)
    const split = [60, 40].map((percent, at) => ({
      type: 'TRAFFIC_TARGET_ALLOCATION_TYPE_REVISION',
      revision: `query-0000${at + 1}-abc`,
      percent,
    }))
    await google.change('split', 'PATCH', `run/v2/${services}/query?updateMask=traffic`, { traffic: split })
    project.plane.calls.length = 0
    await holdTraffic(google, site)
    expect(project.plane.calls.filter(changes)).toEqual([])
    await tagCandidates(google, site)
    expect(trafficOf('query').slice(0, 2)).toEqual(['query-00001-abc 60', 'query-00002-abc 40'])
  })
})

describe('a rollback', () => {
  test('gives the traffic to the revisions before, and to those that are named', async () => {
    const { google, site } = connect(project)
    await release()
    await expect(rollback(google, site, {})).rejects.toThrow(
      'query has no revision tagged previous; name one: --query=REVISION',
    )
    await release()
    await rollback(google, site, {})
    expect([trafficOf('query'), trafficOf('warm')]).toEqual([['query-00001-abc 100'], ['warm-00001-abc 100']])
    await rollback(google, site, { query: 'query-00002-abc', warm: 'warm-00001-abc' })
    expect([trafficOf('query'), trafficOf('warm')]).toEqual([['query-00002-abc 100'], ['warm-00001-abc 100']])
  })

  test('changes neither where one of them has none', async () => {
    const { google, site } = connect(project)
    await release()
    project.plane.calls.length = 0
    const missing = rollback(google, site, { query: 'query-00001-abc' })
    await expect(missing).rejects.toThrow('warm has no revision tagged previous')
    expect(project.plane.calls.filter(changes)).toEqual([])
  })
})

describe('callers', () => {
  const invokers = (name: string) => project.plane.state.policies[`${services}/${name}`]?.bindings ?? []
  const scheduler = 'serviceAccount:lqe-scheduler@my-project.iam.gserviceaccount.com'

  test('are all of query, which asks for keys, and the scheduler alone of warm', async () => {
    const client = connect(project)
    await deployBoth(client)
    for (let round = 0; round < 2; round++) await setUpCallers(client.google, client.site)
    expect(invokers('query')).toEqual([{ role: 'roles/run.invoker', members: ['allUsers'] }])
    expect(invokers('warm')).toEqual([{ role: 'roles/run.invoker', members: [scheduler] }])
  })

  test.each([
    ['as the preflight found out', { access: 'no-invoker-check' }],
    ['as the grant shows', {}],
  ])('of query are not checked where the organization forbids allUsers, %s', async (_, flags) => {
    const client = connect(project, flags)
    const { constraints } = project.plane.state.projects['my-project']!
    constraints['iam.allowedPolicyMemberDomains'] = { listPolicy: { allowedValues: ['C0abc'] } }
    await deployBoth(client)
    for (let round = 0; round < 2; round++) await setUpCallers(client.google, client.site)
    expect(client.said.filter(line => line.includes('without the check'))).toHaveLength(1)
    expect([invokers('query'), invokers('warm')]).toMatchObject([[], [{ members: [scheduler] }]])
    const { resources } = project.plane.state
    expect(functionNames.map(name => resources[`${services}/${name}`]!['invokerIamDisabled'])).toEqual([
      true,
      undefined,
    ])
  })
})

describe('the functions', () => {
  test.each(functionNames)('%s starts with the settings that it is given, and nothing unknown', name => {
    const { site } = connect(project, { 'tables-in': 'my-project.raw' })
    const env = environmentOf({ ...site, env: { MAX_RESULT_BYTES: '100000' } }, name)
    const known = [...Object.values(ofService).map(({ variable }) => variable), 'NODE_ENV']
    expect(Object.keys(env).filter(variable => !known.includes(variable))).toEqual([])
    const config = loadConfig({ ...env, K_SERVICE: name })
    expect(config).toMatchObject({ engine: 'bigquery', store: 'firestore', maxResultBytes: 100_000 })
    expect(env['BIGQUERY_TABLES']).toContain('cloudflare.logs.prod=my-project.raw.cloudflare_logs_prod')
  })

  test('tell warm, its scheduler and the right to call it the same', async () => {
    const client = connect(project, { 'warm-deadline': '90' })
    await deployBoth(client)
    await setUpCallers(client.google, client.site)
    await setUp(client, ['jobs'])
    const { resources, policies } = project.plane.state
    const [job] = Object.entries(resources).flatMap(([name, one]) => (name.includes('/jobs/') ? [one] : []))
    const env = environmentOf(client.site, 'warm')
    expect(job).toMatchObject({
      attemptDeadline: `${Number(env['WARM_DEADLINE_MS']) / 1000}s`,
      httpTarget: {
        uri: expect.stringContaining(`${env['WARM_AUDIENCE']}?`),
        oidcToken: { audience: env['WARM_AUDIENCE'], serviceAccountEmail: env['WARM_SERVICE_ACCOUNT'] },
      },
    })
    expect(policies[`${services}/warm`]!.bindings![0]!.members).toEqual([
      `serviceAccount:${env['WARM_SERVICE_ACCOUNT']}`,
    ])
    const timeout = deployArguments(client.site, 'warm', '').find(one => one.startsWith('--timeout='))!
    expect(Number(/\d+/.exec(timeout))).toBeGreaterThan(90)
  })

  test('are each an account of its own, from dist/, on Node 24', () => {
    const { site } = connect(project, { prefix: 'staging' })
    for (const name of functionNames)
      expect(deployArguments(site, name, 'a.yaml')).toEqual(
        expect.arrayContaining([
          `staging-${name}`,
          '--gen2',
          '--runtime=nodejs24',
          '--source=dist',
          `--entry-point=${name}`,
          `--service-account=staging-${name}@my-project.iam.gserviceaccount.com`,
          '--env-vars-file=a.yaml',
        ]),
      )
  })
})
