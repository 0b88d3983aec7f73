/** What a deployment is told, by flags and by the file that keeps them. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { fileOf, keepSite, namesIn, readSite, settings } from './settings.ts'

const here = process.cwd()
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'settings-'))
  process.chdir(folder)
})
afterEach(() => {
  process.chdir(here)
  rmSync(folder, { recursive: true })
})

function write(text: string, prefix?: string): void {
  mkdirSync('infra/deploy/projects', { recursive: true })
  writeFileSync(fileOf('my-project', prefix), text)
}

describe('the settings', () => {
  test('are the defaults, which are valid, where nothing is said', () => {
    const site = readSite('my-project', {})
    expect(site).toMatchObject({ project: 'my-project', dataset: 'logs', database: '(default)', env: {} })
    for (const [name, setting] of Object.entries(settings))
      expect([name, site[name as keyof typeof settings]]).toEqual([
        name,
        setting.length > 2 ? setting[2] : { dataset: 'logs', database: '(default)' }[name],
      ])
  })

  test('with a prefix are those of an installation with a file, names, a dataset and a database of its own', () => {
    write('region: us-east1')
    const site = readSite('my-project', { prefix: 'staging' })
    expect(site).toMatchObject({ dataset: 'staging_logs', database: 'staging', region: 'europe-west1' })
    expect(keepSite(site)).toBe('infra/deploy/projects/my-project.staging.yaml')
    const { own, functionName, email, address } = namesIn(site)
    expect([own('deploy'), functionName('warm'), email('query'), address('query')]).toEqual([
      'staging-deploy',
      'staging-warm',
      'staging-query@my-project.iam.gserviceaccount.com',
      'https://europe-west1-my-project.cloudfunctions.net/staging-query',
    ])
  })

  test('are kept where they differ from the defaults, and read again, with those of the next time over them', () => {
    const pairs = ['MAX_RESULT_BYTES=1000', 'URL=https://a?b=c,d']
    const flags = { region: 'us-east1', 'query-memory': '1Gi', notify: 'a@b.c' }
    const site = readSite('my-project', { ...flags, env: pairs })
    const file = keepSite(site)
    expect(parse(readFileSync(file, 'utf8'))).toEqual({
      region: 'us-east1',
      dataset: 'logs',
      database: '(default)',
      notify: 'a@b.c',
      env: { MAX_RESULT_BYTES: '1000', URL: 'https://a?b=c,d' },
    })
    expect(readSite('my-project', {})).toEqual({ ...site, said: expect.anything() })
    const next = readSite('my-project', { region: 'us-west1', env: ['URL=none'] })
    const env = { MAX_RESULT_BYTES: '1000', URL: 'none' }
    expect(next).toEqual({ ...site, region: 'us-west1', env, said: expect.anything() })
  })

  test('written by hand may be numbers', () => {
    write('backup-days: 7\nenv:\n  MAX_RESULT_BYTES: 1000\n')
    expect(readSite('my-project', {})).toMatchObject({
      'backup-days': '7',
      env: { MAX_RESULT_BYTES: '1000' },
    })
    write('env:\naccess: public\n') // as a deployment of before has written it
    expect(readSite('my-project', {}).env).toEqual({})
  })

  test('that there are not, or that are not valid, are refused by flag, or by file, line and name', () => {
    const read = (flags: Parameters<typeof readSite>[1]) => () => readSite('my-project', flags)
    expect(read({ 'backup-days': 'many' })).toThrow('--backup-days=many is not valid: daily backups')
    expect(read({ 'tables-in': 'raw' })).toThrow('--tables-in=raw is not valid: project.dataset:')
    expect(read({ prefix: 'lqe' })).toThrow('--prefix=lqe is not valid')
    expect(read({ env: ['NAME'] })).toThrow('--env=NAME: write NAME=VALUE')
    expect(() => readSite('My_Project', {})).toThrow('--project=My_Project is not the id of a project')
    const file = 'infra/deploy/projects/my-project.yaml'
    for (const [text, says] of [
      ['# mine\nregoin: us-east1', `${file}:2: there is no setting regoin`],
      ['region: us-east1\nbackup-days: many', `${file}:2: backup-days=many is not valid: daily backups`],
      ['region: [', `${file}: Flow sequence in block collection must be`],
      ['- region', `${file}: it is no map of settings`],
    ] as const) {
      write(text)
      expect(read({})).toThrow(says)
    }
    write('env:\n  MAX_RESULT_BYTES: 1')
    expect(readSite('my-project', {}).said['MAX_RESULT_BYTES']).toBe(`${file}:2: MAX_RESULT_BYTES`)
  })
})
