/** The commands of setup.sh, from its --dry-run. `setup.soak.ts` has gcloud run them. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'setup-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** The commands that setup.sh would run, each on one line. */
const commands = execFileSync('infra/deploy/setup.sh', ['--project=my-project', '--dry-run'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter(line => line !== '' && !line.startsWith('#'))

describe('setup.sh', () => {
  test('gives each account these roles in the project and no others', () => {
    const grants = commands.filter(line => line.startsWith('gcloud projects add-iam-policy-binding'))
    const roles: Record<string, string[]> = {}
    for (const grant of grants) {
      const [, account = '', role = ''] = /serviceAccount:lqe-(\w+)@.*--role=roles\/(\S+)/.exec(grant) ?? []
      roles[account] = [...(roles[account] ?? []), role]
    }
    expect(roles).toEqual({
      query: ['bigquery.jobUser', 'datastore.user'],
      warm: ['bigquery.jobUser', 'datastore.user'],
      build: [
        'cloudbuild.builds.builder',
        'cloudfunctions.developer',
        'run.admin',
        'cloudscheduler.admin',
        'bigquery.jobUser',
        'datastore.user',
      ],
    })
  })

  test('makes the nine log tables by day, clustered by project where that is a column, and by timestamp', () => {
    const made = commands.filter(line => line.includes('mk --force --table --schema=infra/tables/'))
    const files = readdirSync('infra/tables').filter(file => /^(?!service\.).*\.json$/.test(file))
    expect(made).toHaveLength(9)
    for (const file of files) {
      const columns = JSON.parse(readFileSync(join('infra/tables', file), 'utf8')) as { name: string }[]
      const line = made.find(one => one.includes(`--schema=infra/tables/${file} `)) ?? ''
      expect(line).toContain('--time_partitioning_type=DAY --time_partitioning_field=timestamp')
      const sorted = columns.some(({ name }) => name === 'project') ? 'project,timestamp' : 'timestamp'
      expect(line).toContain(` --clustering_fields=${sorted.replace(',', String.raw`\,`)} `)
      expect(line).toMatch(new RegExp(` my-project:logs.${basename(file, '.json').replaceAll(/\W/g, '_')}$`))
    }
  })

  test('gives Firestore the indexes and the expiry of firestore.indexes.json', () => {
    const about = (command: string) =>
      commands
        .filter(line => line.startsWith(`gcloud firestore ${command} `))
        .map(line => line.replace(/^.* --database=\S+ /, ''))
    expect(about('indexes composite create')).toEqual([
      '--collection-group=answers --field-config=field-path=endpoint\\,order=ascending --field-config=field-path=usedAt\\,order=descending',
    ])
    expect(about('indexes fields update')).toEqual(
      expect.arrayContaining([
        '--collection-group=answers \\* --disable-indexes',
        '--collection-group=keys createdAt --index=order=descending',
      ]),
    )
    expect(about('fields ttls update')).toEqual([
      '--collection-group=answers expireAt --enable-ttl',
      '--collection-group=answerChunks expireAt --enable-ttl',
      '--collection-group=spending expireAt --enable-ttl',
      '--collection-group=warming expireAt --enable-ttl',
    ])
  })

  /** Runs it with programs in place of gcloud and bq that print `output` and end with `status`. */
  function withFakes(output: string, status: number, ...options: string[]) {
    const bin = mkdtempSync(join(folder, 'bin-'))
    const calls = join(bin, 'calls')
    for (const name of ['gcloud', 'bq'])
      writeFileSync(
        join(bin, name),
        `#!/bin/sh\necho "${name} $*" >> ${calls}\ncase "$*" in *" create "*) echo '${output}' >&2; exit ${status};; esac\n`,
        { mode: 0o755 },
      )
    const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}`, SETUP_FIRST_PAUSE: '0.01' }
    const args = ['--project=my-project', ...options]
    const done = spawnSync('infra/deploy/setup.sh', args, { encoding: 'utf8', env })
    const changes = readFileSync(calls, 'utf8')
      .split('\n')
      .filter(call => call !== '' && !/ (list|list-configs|ls|get-iam-policy) /.test(call))
    return { ...done, calls: changes.length }
  }

  test('may be repeated: an existing resource is no failure', () => {
    const { status, calls } = withFakes('ERROR: Service account lqe-query already exists', 1)
    expect([status, calls]).toEqual([0, commands.length])
  })

  test('waits longer and longer for an API that is so new that not all of Google knows it, and stops', () => {
    const unknown = 'Cloud IAM API has not been used in project my-project before'
    const { status, stderr, calls } = withFakes(unknown, 1, '--only=accounts')
    expect([status, calls, stderr]).toEqual([1, 5, expect.stringContaining(unknown)])
    const pauses = [...stderr.matchAll(/^# again in ([\d.]+) s: has not been used in project$/gm)]
    expect(pauses.map(([, seconds]) => seconds)).toEqual(['0.01', '0.02', '0.04', '0.08'])
  })

  test('stops at any other failure, and shows it', () => {
    const { status, stderr } = withFakes('ERROR: permission denied', 1)
    expect(status).not.toBe(0)
    expect(stderr).toContain('permission denied')
  })

  test('says what is missing or not known', () => {
    for (const [args, expected] of [
      [[], /--project=my-project/],
      [['--projekt=a'], /--projekt=a is not known/],
    ] as const) {
      const { status, stderr } = spawnSync('infra/deploy/setup.sh', args, { encoding: 'utf8' })
      expect([status, stderr]).toEqual([2, expect.stringMatching(expected)])
    }
  })
})
