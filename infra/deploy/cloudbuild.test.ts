/** The deployment as far as it can be checked without an account: by gcloud's parsers, and against the code. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { loadConfig, settings } from '../../shared/config.ts'
import { email, lint, testWithGcloud } from '../google/testing/gcloud.ts'

interface Build {
  steps: { id: string; name: string; entrypoint: string; args: string[]; env?: string[] }[]
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

const gcloudSteps = build.steps.filter(({ entrypoint }) => entrypoint === 'gcloud')
const step = (id: string) => build.steps.find(one => one.id === id)!.args.map(filled)
const flag = (id: string, name: string) =>
  step(id)
    .find(argument => argument.startsWith(`--${name}=`))
    ?.slice(name.length + 3)

/** Nothing listens there. */
const nowhere = '127.0.0.1:1'

function quoted(argument: string): string {
  return `'${argument.replaceAll("'", `'\\''`)}'`
}

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
  test('installs, builds, deploys both functions, tests them, sends traffic, applies the endpoints and schedules the warming', () => {
    expect(build.steps.map(({ id }) => id)).toEqual([
      'install',
      'build',
      'hold-traffic',
      'deploy-query',
      'invoker-check-query',
      'deploy-warm',
      'let-scheduler-call-warm',
      'tag',
      'smoke',
      'send-traffic',
      'apply',
      'schedule',
      'verify',
    ])
  })

  testWithGcloud()(
    'is read by gcloud’s own parser, which stops at the missing account and not before',
    async () => {
      const broken = join(folder, 'broken.yaml')
      writeFileSync(broken, text.replace('args: [ci]', 'arguments: [ci]'))
      const [ofBroken, ofOurs] = await Promise.all([broken, 'cloudbuild.yaml'].map(submitError))
      expect(ofBroken).toMatch(/\.steps\[0\]\.arguments: unused/)
      expect(ofOurs).toMatch(/active account/)
    },
    60_000,
  )

  testWithGcloud()(
    'has gcloud commands whose every flag there is, as the operator’s guide has',
    async () => {
      const commands = gcloudSteps.map(({ args }) => ['gcloud', ...args.map(filled).map(quoted)].join(' '))
      const guide = readFileSync('infra/docs/operating.md', 'utf8').match(/^gcloud .*$/gm) ?? []
      expect(guide.length).toBeGreaterThan(5)
      const wrong = `${commands[0]} --no-such-flag`
      // All at once: gcloud takes seconds to learn its own flags.
      expect(await lint([...commands, ...guide, wrong])).toEqual([expect.stringContaining('--no-such-flag')])
    },
    60_000,
  )

  test('gives every substitution a default, and uses each', () => {
    const used = [...text.matchAll(/\$\{(_\w+)\}/g)].map(match => match[1]!)
    expect(new Set(used)).toEqual(new Set(Object.keys(build.substitutions)))
    for (const value of Object.values(build.substitutions)) expect(typeof value).toBe('string')
  })

  test('lets everyone call query, and only the scheduler call warm', () => {
    expect(step('deploy-query')).toContain('--allow-unauthenticated')
    expect(step('deploy-warm')).toContain('--no-allow-unauthenticated')
    expect(step('let-scheduler-call-warm')).toEqual(
      expect.arrayContaining(['warm', `--member=serviceAccount:${email('scheduler')}`]),
    )
  })

  test.each(['query', 'warm'])('deploys %s from dist/, on Node 24, as an account of its own', name => {
    expect(step(`deploy-${name}`)).toEqual(
      expect.arrayContaining([
        name,
        '--gen2',
        '--runtime=nodejs24',
        '--source=dist',
        `--entry-point=${name}`,
      ]),
    )
    expect(flag(`deploy-${name}`, 'service-account')).toBe(email(name))
    expect(flag(`deploy-${name}`, 'build-service-account')).toMatch(email('build'))
  })

  test.each(['query', 'warm'])('gives %s settings with which it starts', name => {
    const env = environment(flag(`deploy-${name}`, 'set-env-vars')!.split(','))
    const known = [...Object.values(settings).map(({ variable }) => variable), 'NODE_ENV']
    expect(Object.keys(env).filter(variable => !known.includes(variable))).toEqual([])
    expect(loadConfig({ ...env, K_SERVICE: name })).toMatchObject({ engine: 'bigquery', store: 'firestore' })
  })

  test('tells warm, its scheduler and the invoker binding the same', () => {
    const env = environment(flag('deploy-warm', 'set-env-vars')!.split(','))
    expect(env['WARM_AUDIENCE']).toBe(flag('schedule', 'url'))
    expect(env['WARM_SERVICE_ACCOUNT']).toBe(flag('schedule', 'service-account'))
    expect(env['WARM_DEADLINE_MS']).toBe(`${flag('schedule', 'deadline-seconds')}000`)
    expect(Number.parseInt(flag('deploy-warm', 'timeout')!)).toBeGreaterThan(
      Number(flag('schedule', 'deadline-seconds')),
    )
  })

  test('applies the endpoints where the functions look for them', () => {
    const apply = environment(build.steps.find(({ id }) => id === 'apply')!.env!.map(filled))
    const deployed = environment(flag('deploy-query', 'set-env-vars')!.split(','))
    for (const name of [
      'GOOGLE_CLOUD_PROJECT',
      'BIGQUERY_DATASET',
      'BIGQUERY_LOCATION',
      'FIRESTORE_DATABASE',
    ])
      expect([name, apply[name]]).toEqual([name, deployed[name]])
    expect(loadConfig(apply)).toMatchObject({ engine: 'bigquery', store: 'firestore' })
  })
})

function environment(pairs: string[]): Record<string, string> {
  return Object.fromEntries(pairs.map(pair => [pair.split('=')[0]!, pair.slice(pair.indexOf('=') + 1)]))
}
