/** What is said of a project on the stand-in and of this machine is what is there, and nothing is changed by asking. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { loadConfig } from '../../shared/config.ts'
import { portFile } from '../../shared/data-folder.ts'
import { freePort } from '../../shared/testing/free-port.ts'
import { openServices } from '../../shared/services.ts'
import { endpointsCollection } from '../../shared/endpoints/lookup.ts'
import { version } from '../../shared/version.ts'
import { changes, openProject, type Project } from '../google/control/testing/project.ts'
import { apply } from '../lqe/apply/apply.ts'
import { runCommand } from '../lqe/testing/command.ts'
import { setUpCallers } from './functions.ts'
import { inProject, statusCommand } from './status.ts'
import { connect, deployBoth, setUp } from './testing/client.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'status-'))
const env = { DATA_DIR: dataDir }
const ofEarlier = createServer((_, res) => res.end('{"status":"ok","version":"0.0.9"}'))
let url: string

beforeAll(async () => {
  await new Promise<void>(resolve => ofEarlier.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(ofEarlier.address() as AddressInfo).port}`
  const services = await openServices(loadConfig(env))
  await apply(services, { queries: 'queries', dryRun: false, out: () => {} })
  const { documents } = await services.store.query({ collection: endpointsCollection, limit: 9 })
  const { id } = documents.find(({ fields }) => fields['name'] === 'logs.all')!
  await services.store.remove({ collection: endpointsCollection, id })
  await services.close()
})
afterAll(async () => {
  await new Promise(resolve => ofEarlier.close(resolve))
  rmSync(dataDir, { recursive: true })
})

const differing = ['+ logs.all created', '= service.usage unchanged', '= usage.api-counts unchanged']

describe('of a project', () => {
  let project: Project
  beforeAll(async () => {
    project = await openProject({ processes: () => Promise.resolve(url) })
  })
  afterAll(() => project.close())

  /** The lines, without those between parts. */
  async function status(): Promise<string[]> {
    const { google, site, said } = connect(project, {}, { dryRun: true })
    project.plane.calls.length = 0
    const printed: string[] = []
    const print = console.log
    console.log = (line: string) => printed.push(line.trim())
    await inProject({ google, site, env, dryRun: true, sample: false }).finally(() => (console.log = print))
    expect(project.plane.calls.filter(changes)).toEqual([])
    return [...printed, ...said].filter(line => line !== '')
  }

  test('that nobody is signed in for it says so', async () => {
    const { google, site } = connect(project, {}, { dryRun: true })
    google.accessToken = () => Promise.reject(new Error('Could not load the default credentials.'))
    const asked = inProject({ google, site, env, dryRun: true, sample: false })
    await expect(asked).rejects.toThrow(/Nobody is signed in: gcloud auth login --update-adc/)
  })

  test('in which there is nothing it says what to do', async () => {
    expect(await status()).toEqual([
      'my-project, europe-west1:',
      'query is not there: npx lqe deploy --project=my-project',
    ])
  })

  test('it says which version and revisions serve, what apply would do, and what of the set-up is missing', async () => {
    const owner = connect(project)
    await setUp(owner)
    await deployBoth(owner)
    await setUpCallers(owner.google, owner.site)
    const lines = await status()
    expect(lines.slice(0, 3)).toEqual([
      'my-project, europe-west1:',
      expect.stringMatching(/^query: 0\.0\.9, http\S+, query-00001-\w+ 100%$/),
      expect.stringMatching(/^warm: http\S+, warm-00001-\w+ 100%$/),
    ])
    expect(lines.slice(4, 7)).toEqual(differing)
    const heading =
      'What npx lqe deploy --project=my-project would change, by infra/deploy/projects/my-project.yaml:'
    expect(lines[7]).toBe(heading)
    expect(lines).toContainEqual(expect.stringMatching(/^query: memory 1Gi \(was \w+\)$/))
    const ofSetUp = () => status().then(all => all.slice(8).filter(line => !/^(query|warm): /.test(line)))
    expect(await ofSetUp()).toEqual([])
    delete project.plane.state.resources['projects/my-project/metrics/lqe_warmed']
    expect(await ofSetUp()).toEqual(['metric lqe_warmed: made'])
  })
})

describe('of this machine', () => {
  /** Each line of `lqe status`. */
  async function status(settings: Record<string, string>): Promise<string[]> {
    const config = loadConfig(settings)
    const command = statusCommand(
      async act => {
        const services = await openServices(config)
        try {
          await act(services)
        } finally {
          await services.close()
        }
      },
      () => config,
    )
    const { out, err } = await runCommand(command, [])
    expect(err).toBe('')
    return out
      .split('\n')
      .map(line => line.trim())
      .filter(line => line !== '')
  }

  test('it says which version serves, and what differs from queries/', async () => {
    const [program, served, heading, ...endpoints] = await status({ ...env, PORT: new URL(url).port })
    expect(program).toBe(`This is lqe ${version}, with the endpoints of queries/.`)
    expect(served).toBe(`0.0.9 serves at http://localhost:${new URL(url).port}.`)
    writeFileSync(portFile(dataDir), '1\n')
    expect((await status({ ...env, PORT: '2' }))[1]).toBe(
      'Nothing of lqe serves at http://localhost:1: npx lqe start',
    )
    expect([heading, endpoints]).toEqual([
      'What npx lqe apply would do, where its checks and tests pass:',
      differing,
    ])
  })

  test('before the first start it makes nothing', async () => {
    const [port, none] = [await freePort(), join(dataDir, 'none')]
    const [, ...lines] = await status({ PORT: String(port), DATA_DIR: none })
    expect(lines).toEqual([
      `Nothing of lqe serves at http://localhost:${port}: npx lqe start`,
      `There is no ${none} yet.`,
    ])
    expect(existsSync(none)).toBe(false)
  })
})
