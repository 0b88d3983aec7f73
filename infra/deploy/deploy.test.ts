/** Set-up in a project on the stand-in: all that is needed, from nothing and from every state in between. */
import { appendFileSync, existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { Json } from '../google/control/plane.ts'
import { changes, lasting, openProject, type Project } from '../google/control/testing/project.ts'
import { testWithGcloud } from '../google/testing/gcloud.ts'
import { rounds } from '../../shared/testing/rounds.ts'
import { fileOf, settings } from './settings.ts'
import {
  allFlags,
  connect,
  deployBoth,
  dieBehind,
  lqeDeploy,
  oneEndpoint,
  setUp,
  steps,
} from './testing/client.ts'

let project: Project
beforeEach(async () => {
  project = await openProject()
})
afterEach(() => project.close())

function resourcesOf(pattern: RegExp): Json[] {
  const { resources } = project.plane.state
  return Object.entries(resources)
    .filter(([name]) => pattern.test(name))
    .map(([, resource]) => resource)
}

/** `roles/datastore.user` of `lqe-build` as `build: datastore.user`, for those of the policy of a resource. */
function rolesIn(resource: string): string[] {
  const { bindings = [] } = project.plane.state.policies[resource]!
  const pairs = bindings.flatMap(({ role, members }) => members.map(member => [member, role] as const))
  return pairs
    .map(([member, role]) => `${member.replace(/^\w+:(lqe-)?|@.*/g, '')}: ${role.replace('roles/', '')}`)
    .toSorted()
}

/** Of the numbers from 1 on, the soak takes all, and a test the first, the middle and the last. */
function sampleOf(count: number): number[] {
  const step = Math.max(1, Math.ceil((count - 1) / rounds(2, count)))
  return Array.from({ length: count }, (_, at) => at + 1).filter(at => at === count || (at - 1) % step === 0)
}

describe('set-up', () => {
  test('makes all that is needed, and a second run changes nothing', async () => {
    const flags = allFlags(project)
    await setUp(connect(project, flags))
    const counts = {
      accounts: /my-project\/serviceAccounts\//,
      tables: /\/datasets\/logs\/tables\//,
      sinks: /\/sinks\//,
      triggers: /\/triggers\//,
      jobs: /\/jobs\//,
      backups: /\/backupSchedules\//,
      monitoring: /\/(metrics|alertPolicies|dashboards|uptimeCheckConfigs|notificationChannels)\//,
    }
    expect(Object.entries(counts).map(([name, pattern]) => `${name} ${resourcesOf(pattern).length}`)).toEqual(
      [
        'accounts 4',
        'tables 11', // with the routed lines of requests and their view
        'sinks 1',
        'triggers 1',
        'jobs 1',
        'backups 1',
        'monitoring 14',
      ],
    )
    project.plane.calls.length = 0
    const again = connect(project, flags)
    await setUp(again)
    expect(project.plane.calls.filter(changes)).toEqual([])
    expect(again.said).toEqual([])
  })

  test('gives each account the rights that it needs, and no others', async () => {
    await setUp(connect(project), ['APIs', 'accounts', 'rights'])
    expect(rolesIn('projects/my-project')).toEqual([
      'build: bigquery.jobUser',
      'build: cloudbuild.builds.builder',
      'build: cloudfunctions.developer',
      'build: cloudscheduler.admin',
      'build: datastore.user',
      'owner: owner',
      'query: bigquery.jobUser',
      'query: datastore.user',
      'warm: bigquery.jobUser',
      'warm: datastore.user',
    ])
    const account = (name: string) =>
      rolesIn(`projects/my-project/serviceAccounts/lqe-${name}@my-project.iam.gserviceaccount.com`)
    const users = ['build: iam.serviceAccountUser', 'owner: iam.serviceAccountUser']
    for (const name of ['query', 'warm', 'build']) expect(account(name)).toEqual(users)
    const signers = ['build', 'owner'].map(name => `${name}: iam.serviceAccountOpenIdTokenCreator`)
    expect(account('scheduler')).toEqual([...users, ...signers].toSorted())
  })

  test('has Cloud Build deploy each push, as the build’s account and told of the installation', async () => {
    const flags = allFlags(project)
    await setUp(connect(project, flags), ['APIs', 'accounts', 'builds of pushes'])
    const [trigger] = resourcesOf(/\/triggers\//)
    expect(trigger).toMatchObject({
      github: { owner: 'an-owner', name: 'a-repository', push: { branch: '^main$' } },
      filename: 'cloudbuild.yaml',
      serviceAccount: 'projects/my-project/serviceAccounts/lqe-build@my-project.iam.gserviceaccount.com',
      substitutions: { _PREFIX: '', _ACCOUNT: 'lqe-build' },
    })
    const { said, ...other } = connect(project, { ...flags, branch: '^release$' })
    await setUp({ said, ...other }, ['builds of pushes'])
    expect([said, resourcesOf(/\/triggers\//)]).toEqual([
      ['pushes to an-owner/a-repository: changed'],
      [expect.objectContaining({ github: expect.objectContaining({ push: { branch: '^release$' } }) })],
    ])
  })

  test('gets through while APIs, accounts and metrics are so new that not all of Google knows them', async () => {
    const known = await openProject()
    await setUp(connect(known, allFlags(known)))
    await known.close()
    project.plane.state.projects['my-project']!.news = []
    const client = connect(project, allFlags(project))
    await setUp(client)
    const waits = client.said.filter(line => line.startsWith('again in'))
    for (const words of [
      /has not been used in project/i,
      /Service account .* does not exist/i,
      /Cannot find metric/i,
    ])
      expect(waits).toContainEqual(expect.stringMatching(words))
    expect(lasting(project.plane.state).resources).toEqual(lasting(known.plane.state).resources)
  })

  test('stops at any other failure, with Google’s words and at once', async () => {
    await setUp(connect(project), ['APIs'])
    const guest = connect(project, {}, { as: 'guest@example.com' })
    await expect(setUp(guest, ['accounts'])).rejects.toThrow("Permission 'iam.serviceAccounts.list' denied")
    expect(guest.said).toEqual([])
  })

  test('finds its way in a project that has some of it, made by hand', async () => {
    const { state } = project.plane
    const flags = allFlags(project)
    const database = 'projects/my-project/databases/(default)'
    const warm = 'lqe-warm@my-project.iam.gserviceaccount.com'
    const account = `projects/my-project/serviceAccounts/${warm}`
    state.projects['my-project']!.apis.push('iam.googleapis.com', 'firestore.googleapis.com')
    state.resources[account] = { name: account, email: warm }
    state.resources[database] = { name: database, type: 'FIRESTORE_NATIVE', locationId: 'eur3' }
    const members = [`serviceAccount:${warm}`, 'user:somebody@example.com']
    const own = { role: 'roles/datastore.user', members, condition: { title: 'until noon' } }
    state.policies['projects/my-project']!.bindings!.push(own, { ...own, condition: undefined })
    await setUp(connect(project, flags))
    const { bindings } = state.policies['projects/my-project']!
    const users = bindings!.filter(({ role }) => role === 'roles/datastore.user')
    expect(users).toHaveLength(2)
    expect(users[0]).toEqual(own) // a right with a condition is another right
    expect(users[1]!.members).toEqual([
      ...members,
      'serviceAccount:lqe-query@my-project.iam.gserviceaccount.com',
      'serviceAccount:lqe-build@my-project.iam.gserviceaccount.com',
    ])
    project.plane.calls.length = 0
    await setUp(connect(project, flags))
    expect(project.plane.calls.filter(changes)).toEqual([])
  })

  test('sees what is behind the first page of a list', async () => {
    await setUp(connect(project), ['APIs'])
    const { resources } = project.plane.state
    for (let at = 0; at < 45; at++) {
      const email = `other-${at}@my-project.iam.gserviceaccount.com`
      resources[`projects/my-project/serviceAccounts/${email}`] = { email }
    }
    await setUp(connect(project), ['accounts'])
    const again = connect(project)
    await setUp(again, ['accounts'])
    expect([again.said, resourcesOf(/\/serviceAccounts\//).length]).toEqual([[], 49])
  })

  test('goes on after it died behind any of its changes, and ends where it ends without that', async () => {
    const { state } = project.plane
    const flags = allFlags(project)
    const made: Record<string, number> = {}
    for (const step of Object.keys(steps)) {
      const before = structuredClone(state)
      project.plane.calls.length = 0
      await setUp(connect(project, flags), [step])
      const after = lasting(state)
      made[step] = project.plane.calls.filter(changes).length
      for (const at of sampleOf(made[step])) {
        Object.assign(state, structuredClone(before))
        const dying = connect(project, flags)
        await dieBehind(at, project, dying, () => setUp(dying, [step]))
        await setUp(connect(project, flags), [step])
        expect({ step, at, ...lasting(state) }).toEqual({ step, at, ...after })
      }
    }
    expect(made).toEqual({
      APIs: 1,
      accounts: 4,
      rights: 5,
      database: 2,
      tables: 14,
      jobs: 1,
      monitoring: 14,
      'builds of pushes': 1,
      'expiry and backups': 21,
    })
  })
})

describe('a dry run', () => {
  test('changes nothing in an empty project, and says all that the run then does', async () => {
    const flags = allFlags(project)
    const dry = connect(project, flags, { dryRun: true })
    await setUp(dry)
    expect(project.plane.calls.filter(changes)).toEqual([])
    const { said, ...real } = connect(project, flags)
    await setUp({ said, ...real })
    // The account that writes the lines of requests comes with the sink.
    const told = said
      .filter(line => !line.startsWith('again in'))
      .map(line => line.replace(', WRITER service-123456789012', ''))
    expect(dry.said.toSorted()).toEqual(told.toSorted())
  })

  test('says nothing in a full one, and of one that lacks something just that', async () => {
    const flags = allFlags(project)
    await setUp(connect(project, flags))
    const { resources } = project.plane.state
    const dry = connect(project, flags, { dryRun: true })
    await setUp(dry)
    expect(dry.said).toEqual([])
    delete resources['projects/my-project/metrics/lqe_warmed']
    resources['projects/my-project/sinks/lqe-requests']!['filter'] = 'severity=ERROR'
    project.plane.calls.length = 0
    await setUp(dry)
    expect(dry.said).toEqual(['sink lqe-requests: changed', 'metric lqe_warmed: made'])
    expect(project.plane.calls.filter(changes)).toEqual([])
  })
})

describe('two installations in a project', () => {
  test('leave each other alone', async () => {
    const flags = allFlags(project)
    const first = () => connect(project, flags)
    const second = () => connect(project, { ...flags, prefix: 'staging' })
    await setUp(first())
    await deployBoth(first())
    const before = lasting(project.plane.state)
    await setUp(second())
    await deployBoth(second())
    const { resources, policies } = lasting(project.plane.state)
    expect(resources).toMatchObject(before.resources)
    const added = Object.keys(resources).filter(name => !(name in before.resources))
    expect(
      added.filter(name => !/staging|upload|alertPolicies|uptimeCheck|notificationCh|triggers/.test(name)),
    ).toEqual([])
    expect(added.filter(name => name.includes('lqe'))).toEqual([])
    expect(resourcesOf(/\/triggers\//)).toEqual(
      ['lqe', 'staging'].map(name =>
        expect.objectContaining({
          name: `${name}-deploy`,
          substitutions: { _PREFIX: name.replace('lqe', ''), _ACCOUNT: `${name}-build` },
        }),
      ),
    )
    const { 'projects/my-project': _, ...others } = before.policies
    expect(policies).toMatchObject(others)
    project.plane.calls.length = 0
    await setUp(first())
    await setUp(second())
    expect(project.plane.calls.filter(changes)).toEqual([])
  })
})

describe('tables of another project', () => {
  test('are read where they are, and none are made', async () => {
    const { projects, policies, resources } = project.plane.state
    const raw = 'projects/warehouse/datasets/raw'
    projects['warehouse'] = { ...projects['my-project']!, number: '4711', apis: ['bigquery.googleapis.com'] }
    policies['projects/warehouse'] = structuredClone(policies['projects/my-project']!)
    const owners = { role: 'OWNER', specialGroup: 'projectOwners' }
    resources[raw] = { location: 'EU', access: [owners] }
    const flags = { 'tables-in': 'warehouse.raw' }
    await setUp(connect(project, flags))
    expect(resources[raw]['access']).toEqual([
      owners,
      ...['query', 'warm', 'build'].map(name => ({
        role: 'READER',
        userByEmail: `lqe-${name}@my-project.iam.gserviceaccount.com`,
      })),
    ])
    expect(resourcesOf(/\/tables\//)).toHaveLength(2) // of requests
    project.plane.calls.length = 0
    await setUp(connect(project, flags))
    expect(project.plane.calls.filter(changes)).toEqual([])
  })
})

describe('lqe deploy', () => {
  const program = resolve('infra/lqe.ts')
  const run = (args: string[], env?: Record<string, string>) =>
    project.run(process.execPath, [program, 'deploy', ...args], undefined, project.folder, env)
  const say = (...args: string[]) => lqeDeploy(project, ...args)
  const testGcloud = testWithGcloud()

  testGcloud('says all of its steps in a dry run, and neither changes nor writes anything', async () => {
    oneEndpoint(project)
    const { status, output } = await run(['--project=my-project', '--dry-run'])
    expect([status, output]).toEqual([0, expect.stringContaining('function query: deployed')])
    expect(output.match(/^== .*/gm)).toEqual([
      '== tests',
      '== APIs',
      '== accounts',
      '== rights',
      '== data',
      '== bundle',
      '== functions',
      '== smoke test of the new revisions',
      '== definitions',
      '== jobs',
      '== smoke test of what serves',
      '== rows',
      '== monitoring',
      '== builds of pushes',
      '== expiry and backups',
    ])
    expect(project.plane.calls.filter(changes)).toEqual([])
    expect(existsSync(join(project.folder, fileOf('my-project')))).toBe(false)
  })

  test('says in a dry run without a sign-in what a project gets that has nothing, and asks Google nothing', async () => {
    oneEndpoint(project)
    appendFileSync(join(project.folder, 'queries/service.usage.yaml'), 'warm: { seconds: 300 }\n')
    project.plane.calls.length = 0
    const env = { CLOUDSDK_AUTH_ACCESS_TOKEN_FILE: join(project.folder, 'none') }
    const { status, output } = await run(['--project=my-project', '--dry-run'], env)
    for (const line of [
      /Nobody is signed in: gcloud auth login --update-adc \(ENOENT/,
      /account lqe-warm: made/,
      /rights on the project: bigquery.jobUser lqe-query, /,
      /dataset logs: made, in EU/,
      /function warm: deployed, memory 1Gi, /,
      /job lqe-warm-\S+: \*\/5 \* \* \* \*, /,
      /Nothing was made, and nothing of this costs/,
    ])
      expect(output).toMatch(line)
    expect([status, project.plane.calls]).toEqual([0, []])
  })

  testGcloud('stops with all faults in one message, before it changes anything', async () => {
    project.plane.state.projects['my-project']!.isBilled = false
    const { status, output } = await say('--project=my-project', '--region=mars-1')
    expect([status, output]).toEqual([
      1,
      expect.stringMatching(/^Nothing was changed\. First:\n- .*billing.*\n- --region=mars-1/),
    ])
    expect(project.plane.calls.filter(changes)).toEqual([])
  })

  testGcloud('does the steps that are named, and keeps what it was told for the next time', async () => {
    const first = [
      '--project=my-project',
      '--only=APIs,accounts',
      '--prefix=staging',
      '--branch=^x$',
      '--env=CORS_ORIGIN=https://console.example.com',
    ]
    expect(await run(first)).toMatchObject({ status: 0 })
    expect(resourcesOf(/\/serviceAccounts\//).map(({ email }) => email)).toContain(
      'staging-query@my-project.iam.gserviceaccount.com',
    )
    const file = join(project.folder, 'deploy')
    expect(readdirSync(file)).toEqual(['my-project.staging.yaml'])
    const second = await run(['--project=my-project', '--only=nothing', '--prefix=staging'])
    expect([second.status, second.output]).toEqual([
      1,
      expect.stringMatching(/^--only=nothing: the steps are tests, APIs, accounts, rights, /),
    ])
  })

  test('has commands of its own to push, roll back and remove', async () => {
    await setUp(connect(project), ['APIs', 'accounts', 'rights'])
    const removed = await say('remove', '--project=my-project')
    expect([removed.status, removed.output]).toEqual([
      0,
      expect.stringMatching(/account lqe-query.*: removed/),
    ])
    expect(resourcesOf(/\/serviceAccounts\//)).toEqual([])
    const back = await say('rollback', '--project=my-project')
    expect([back.status, back.output]).toEqual([
      1,
      expect.stringMatching(/^query has no revision tagged previous; name one: --query=REVISION/),
    ])
  })

  test('has in the help of each command the settings that it goes by', async () => {
    const options = async (command: string) => {
      const { output } = await say(command, '--help')
      return [...output.matchAll(/^ {2}(--[\w-]+)/gm)].map(match => match[1]!)
    }
    expect((await say('--help')).output).toMatch(/^Usage: lqe deploy \[options\]\n/)
    const all = await options('all')
    for (const name of Object.keys(settings)) expect(all).toContain(`--${name}`)
    const both = ['--project', '--region', '--prefix']
    expect(await options('rollback')).toEqual([...both, '--dry-run', '--query', '--warm'])
    expect(await options('restore')).toEqual(
      expect.arrayContaining(['--project', '--prefix', '--database', '--into', '--time']),
    )
    expect(await options('push')).toEqual(expect.arrayContaining([...both, '--query-memory', '--env']))
    for (const name of ['--partition', '--notify', '--backup-days'])
      for (const command of ['push', 'rollback', 'restore', 'remove'])
        expect(await options(command)).not.toContain(name)
  })

  testGcloud('stops a push whose settings are wrong', async () => {
    const wrong = await say('push', '--project=my-project', '--region=mars-1', '--env=NO_SUCH=1')
    expect([wrong.status, wrong.output]).toEqual([
      1,
      expect.stringMatching(
        /First:\n- --region=mars-1 is no region .*\n- --env NO_SUCH: the service has no such/,
      ),
    ])
    expect(project.plane.calls.filter(changes)).toEqual([])
  })

  test('says what is missing or not known', async () => {
    for (const [args, expected] of [
      [[], /--project <id>' not specified/],
      [['--project=my-project', '--projekt=a'], /unknown option '--projekt=a'/],
      [
        ['--project=my-project', '--query-memory=much'],
        /^--query-memory=much is not valid: of an instance of query, such as 1Gi$/m,
      ],
    ] as const) {
      const { status, output } = await say(...args)
      expect([status, output]).toEqual([1, expect.stringMatching(expected)])
    }
  })
})
