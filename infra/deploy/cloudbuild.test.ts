/** What CI is told, here and by `lqe init`, and all that is said to gcloud, as far as they can be checked without an account: by gcloud's parsers and GitHub's. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { build as bundle } from 'esbuild'
import { parse } from 'yaml'
import { changes, openProject } from '../google/control/testing/project.ts'
import { email, lint, testWithGcloud } from '../google/testing/gcloud.ts'
import { deployArguments, environmentOf } from './functions.ts'
import { functionNames, readSite } from './settings.ts'
import { allFlags, connect, oneEndpoint, setUp } from './testing/client.ts'

interface Build {
  steps: { id: string; entrypoint: string; args: string[]; env?: string[] }[]
  substitutions: Record<string, string>
  serviceAccount: string
}

const text = readFileSync('cloudbuild.yaml', 'utf8')
const build = parse(text) as Build
const templates = 'infra/lqe/init/ci'
const own = parse(readFileSync(join(templates, 'cloudbuild.yaml'), 'utf8')) as Build
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
      const files = [broken, 'cloudbuild.yaml', join(templates, 'cloudbuild.yaml')]
      const [ofBroken, ...ofOurs] = await Promise.all(files.map(submitError))
      expect(ofBroken).toMatch(/\.steps\[0\]\.arguments: unused/)
      for (const said of ofOurs) expect(said).toMatch(/active account/)
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
    const program = own.steps
      .at(-1)!
      .args.map(word => word.replace(/^node_modules\/log-query-endpoints\//, ''))
    expect(program).toEqual(['infra/lqe/bin.cjs', ...release!.args.slice(1)])
    expect([own.substitutions, own.serviceAccount]).toEqual([build.substitutions, build.serviceAccount])
    const project = await openProject()
    await setUp(connect(project), ['APIs', 'accounts', 'rights', 'database', 'tables'])
    project.plane.calls.length = 0
    const args = [...release!.args.map(filled), '--dry-run']
    oneEndpoint(project)
    const here = { LQE_FOLDER: project.folder }
    const { status, output } = await project.run(process.execPath, args, email('build'), undefined, here)
    await project.close()
    expect([status, output.match(/^== .*/gm)]).toEqual([
      0,
      expect.arrayContaining(['== functions', '== jobs']),
    ])
    expect(project.plane.calls.filter(call => changes(call) || call.endsWith(' 403'))).toEqual([])
    expect(filled(build.serviceAccount).split('/').at(-1)).toBe(email('build'))
  })
})

interface GitHub {
  faultsOf(content: string): Promise<string[]>
}

/** Node loads it as a bundle alone. */
async function parserOfGitHub(): Promise<GitHub> {
  const contents = `import { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser'
    export const faultsOf = async content => {
      const { context, value } = parseWorkflow({ name: 'lqe.yaml', content }, new NoOperationTraceWriter())
      if (value) await convertWorkflowTemplate(context, value)
      return context.errors.getErrors().map(({ message }) => message)
    }`
  const outfile = join(folder, 'parser.cjs')
  await bundle({
    stdin: { contents, resolveDir: '.' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    outfile,
  })
  return createRequire(import.meta.url)(outfile) as GitHub
}

test('the file for GitHub is read by its own parser, which knows each key, job and context', async () => {
  const workflow = readFileSync(join(templates, 'github.yaml'), 'utf8')
  const { faultsOf } = await parserOfGitHub()
  expect(await faultsOf(workflow)).toEqual([])
  for (const [right, wrong] of [
    ['runs-on', 'run-on'],
    ['needs: test', 'needs: tests'],
    ['vars.PROVIDER', 'vrs.PROVIDER'],
  ] as const)
    expect(await faultsOf(workflow.replace(right, wrong))).not.toEqual([])
  const [, command, push] = own.steps.at(-1)!.args
  expect(workflow).toContain(`run: npx lqe ${command} ${push} --project=`)
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
