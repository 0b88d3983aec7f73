/** The build of a push and all that is said to gcloud, as far as they can be checked without an account: by gcloud's parsers. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { changes, openProject } from '../google/control/testing/project.ts'
import { email, lint, testWithGcloud } from '../google/testing/gcloud.ts'
import { deployArguments, environmentOf } from './functions.ts'
import { functionNames, readSite } from './settings.ts'
import { allFlags, connect, setUp } from './testing/client.ts'

interface Build {
  steps: { id: string; entrypoint: string; args: string[]; env?: string[] }[]
  substitutions: Record<string, string>
  serviceAccount: string
}

const text = readFileSync('cloudbuild.yaml', 'utf8')
const build = parse(text) as Build
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'deploy-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** As Cloud Build fills them in. */
function filled(argument: string): string {
  const values: Record<string, string> = { ...build.substitutions, PROJECT_ID: 'my-project', BUILD_ID: 'b-1' }
  return argument.replaceAll(/\$\{?(\w+)\}?/g, (_, name: string) => values[name] ?? `unknown ${name}`)
}

/** Nothing listens there. */
const nowhere = '127.0.0.1:1'

/** What `gcloud beta builds submit` of a file prints, as nobody: not as the machine's account either, nor to Google. */
function submitError(file: string): Promise<string> {
  const args = ['beta', 'builds', 'submit', `--config=${file}`, '--no-source', '--project=my-project']
  const env = {
    ...process.env,
    CLOUDSDK_CONFIG: mkdtempSync(join(folder, 'gcloud-')),
    GCE_METADATA_ROOT: nowhere,
    GCE_METADATA_IP: nowhere,
    CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDBUILD: `http://${nowhere}/`,
  }
  return new Promise(resolve => {
    execFile('gcloud', args, { env }, (_error, _stdout, stderr) => resolve(stderr))
  })
}

describe('cloudbuild.yaml', () => {
  testWithGcloud()(
    'is read by gcloud’s own parser, which stops at the missing account and not before',
    async () => {
      const broken = join(folder, 'broken.yaml')
      writeFileSync(broken, text.replace('args: [ci]', 'arguments: [ci]'))
      const [ofBroken, ofOurs] = await Promise.all([broken, 'cloudbuild.yaml'].map(submitError))
      expect(ofBroken).toMatch(/\.steps\[0\]\.arguments: unused/)
      expect(ofOurs).toMatch(/active account/)
    },
  )

  test('gives every substitution a default, uses each, and is given each by the trigger', async () => {
    const names = Object.keys(build.substitutions)
    const used = [...text.matchAll(/\$\{(_\w+)\}/g)].map(match => match[1]!)
    expect(new Set(used)).toEqual(new Set(names))
    for (const value of Object.values(build.substitutions)) expect(typeof value).toBe('string')
    const project = await openProject()
    await setUp(connect(project, allFlags(project)), ['APIs', 'accounts', 'builds of pushes'])
    await project.close()
    const { resources } = project.plane.state
    const trigger = Object.values(resources).find(({ filename }) => filename === 'cloudbuild.yaml')!
    expect(trigger['substitutions']).toEqual(build.substitutions)
    expect(trigger['serviceAccount']).toBe(filled(build.serviceAccount))
  })

  test('installs, and releases by a command that there is, as an account of its own', async () => {
    const [install, bundle, release] = build.steps
    expect(build.steps.map(({ id }) => id)).toEqual(['install', 'bundle', 'release'])
    expect([install, bundle].map(step => [step!.entrypoint, ...step!.args].join(' '))).toEqual([
      'npm ci',
      'npm run build',
    ])
    const project = await openProject()
    await setUp(connect(project), ['APIs', 'accounts', 'rights', 'database', 'tables'])
    project.plane.calls.length = 0
    const args = [...release!.args.map(filled), '--dry-run']
    const { status, output } = await project.run(process.execPath, args, email('build'))
    await project.close()
    expect([status, output.match(/^== .*/gm)]).toEqual([
      0,
      expect.arrayContaining(['== functions', '== jobs']),
    ])
    expect(project.plane.calls.filter(call => changes(call) || call.endsWith(' 403'))).toEqual([])
    expect(filled(build.serviceAccount).split('/').at(-1)).toBe(email('build'))
  })
})

describe('gcloud', () => {
  testWithGcloud()('has every command and flag of the deployment and of its advice', async () => {
    const site = readSite('my-project', {})
    const quoted = (argument: string) => `'${argument.replaceAll("'", `'\\''`)}'`
    const deployments = functionNames.map(name => {
      // The linter says yes to everything about a file that is not there.
      const envFile = join(folder, `${name}.yaml`)
      writeFileSync(envFile, JSON.stringify(environmentOf(site, name)))
      return ['gcloud', ...deployArguments(site, name, envFile).map(quoted)].join(' ')
    })
    const source = readFileSync('infra/deploy/preflight.ts', 'utf8').replaceAll('${project}', 'my-project')
    const advice = source.match(/gcloud (auth|billing|projects) [\w= -]*[\w]/g) ?? []
    expect(advice).toHaveLength(4)
    const wrong = `${deployments[0]} --no-such-flag`
    // All at once: gcloud takes seconds to learn its own flags.
    expect(await lint([...deployments, ...advice, wrong])).toEqual([
      expect.stringContaining('--no-such-flag'),
    ])
  })
})
