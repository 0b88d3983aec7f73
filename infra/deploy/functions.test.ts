/** Who gets the traffic, and who may call, in a project on the stand-in; and what gcloud is told. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { loadConfig, settings as ofService } from '../../shared/config.ts'
import { changes, openProject, type Project } from '../google/control/testing/project.ts'
import {
  deployArguments,
  deployFunctions,
  earlierRevisions,
  environmentOf,
  holdTraffic,
  sendTraffic,
  type Service,
  setUpCallers,
  tagCandidates,
} from './functions.ts'
import { functionNames } from './settings.ts'
import { connect, deployBoth, setUp, lqeDeploy } from './testing/client.ts'

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
    const deployed = said.findIndex(line => line.startsWith('function query: deployed'))
    expect([held >= 0, deployed > held]).toEqual([true, true])
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

/** The program as an operator runs it: back, or to the revisions that are named. */
describe('a rollback', () => {
  /** Revisions that do not start. */
  const broken = new Set<string>()
  /** In place of a bundle: `query` is healthy, `warm` knows no such endpoint. */
  const server = createServer((req, res) => {
    res.writeHead(req.url === '/health' ? 200 : 404).end('not_found')
  })
  beforeEach(async () => {
    broken.clear()
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await project.close()
    const processes = ({ name }: { name: string }) =>
      broken.has(name.split('/').at(-1)!)
        ? Promise.reject(new Error('it does not start'))
        : Promise.resolve(url)
    project = await openProject({ processes })
    const client = connect(project)
    await setUp(client, ['APIs', 'accounts', 'rights'])
    await release()
    await setUpCallers(client.google, client.site)
  })
  afterEach(() => new Promise(resolve => server.close(resolve)))

  const rollback = (...args: string[]) => lqeDeploy(project, 'rollback', '--project=my-project', ...args)
  const traffic = () => [trafficOf('query'), trafficOf('warm')]

  test('gives the traffic to the revisions before, and the same again goes forward', async () => {
    await release()
    const before = traffic()
    expect(before[0]).toEqual(['query-00002-abc 100', 'query-00001-abc previous'])
    const dry = await rollback('--dry-run')
    expect(dry.output).toBe('Traffic would go to query-00001-abc and warm-00001-abc.\n')
    expect(traffic()).toEqual(before)
    const { status, output } = await rollback()
    expect([status, output]).toEqual([0, expect.stringMatching(/Forward again: the same command/)])
    expect(traffic()[0]).toEqual(['query-00001-abc 100', 'query-00002-abc previous'])
    expect(await rollback()).toMatchObject({ status: 0 })
    expect(traffic()).toEqual(before)
    expect(await rollback('--query=query-00001-abc', '--warm=warm-00002-abc')).toMatchObject({ status: 0 })
    expect(traffic().map(([first]) => first)).toEqual(['query-00001-abc 100', 'warm-00002-abc 100'])
  })

  test.each(['query', 'warm'])(
    'to a %s that does not start is refused, and the traffic stays',
    async name => {
      await release()
      broken.add(`${name}-00001-abc`)
      const { status, output } = await rollback()
      expect([status, output]).toEqual([
        1,
        expect.stringMatching(
          /failed: .* 503.*\nThe traffic is where it was\. Name others that have served: --query=/,
        ),
      ])
      expect(traffic().map(([first]) => first)).toEqual(['query-00002-abc 100', 'warm-00002-abc 100'])
    },
  )

  test('changes neither where one of them has none', async () => {
    const { google, site } = connect(project)
    project.plane.calls.length = 0
    const missing = earlierRevisions(google, site, { query: 'query-00001-abc' })
    await expect(missing).rejects.toThrow('warm has no revision tagged previous; name one: --warm=REVISION')
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
    ['iam.allowedPolicyMemberDomains', { listPolicy: { allowedValues: ['C0abc'] } }],
    ['iam.managed.allowedPolicyMembers', { enforce: true }],
  ])('of query are not checked where the organization forbids allUsers by %s', async (name, rule) => {
    const client = connect(project)
    project.plane.state.projects['my-project']!.constraints[name] = rule
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

describe('what is said of a function', () => {
  test('are its sizes, and what differs from what stands', async () => {
    const told = async (flags: Record<string, string> = {}, env = {}) => {
      const { google, site, said } = connect(project, flags, { dryRun: true })
      await deployFunctions(google, { ...site, env })
      return said.find(line => line.startsWith('function query'))
    }
    expect(await told()).toBe(
      'function query: deployed, memory 1Gi, cpu 1, concurrency 80, min-instances 0, max-instances 10, timeout 120',
    )
    await deployBoth(connect(project))
    const name = 'projects/my-project/locations/europe-west1/functions/query'
    const { serviceConfig } = project.plane.state.resources[name] as { serviceConfig: object }
    const { site } = connect(project)
    const there = { availableMemory: '1Gi', availableCpu: '1', maxInstanceRequestConcurrency: 80 }
    const more = {
      maxInstanceCount: 10,
      timeoutSeconds: 60,
      environmentVariables: environmentOf(site, 'query'),
    }
    Object.assign(serviceConfig, there, more)
    expect(await told({ 'query-min-instances': '1' }, { CORS_ORIGIN: 'https://a' })).toBe(
      'function query: deployed, memory 1Gi, cpu 1, concurrency 80, min-instances 1 (was 0), max-instances 10, timeout 120 (was 60), CORS_ORIGIN https://a (was none)',
    )
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
          `--source=${resolve('dist/function')}`,
          `--entry-point=${name}`,
          `--service-account=staging-${name}@my-project.iam.gserviceaccount.com`,
          '--env-vars-file=a.yaml',
        ]),
      )
  })
})
