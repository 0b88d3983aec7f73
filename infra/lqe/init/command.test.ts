/** A folder of one's own: what `lqe init` makes works as it is, and belongs to its user from then on. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from '@jest/globals'
import { freePort } from '../../../shared/testing/free-port.ts'
import { version } from '../../../shared/version.ts'
import { runCommand } from '../testing/command.ts'
import { initCommand } from './command.ts'

const place = mkdtempSync(join(tmpdir(), 'init-'))
const program = resolve('infra/lqe/bin.cjs')
const ofFolder = (env: object = {}) => ({ PATH: process.env['PATH'], EXPLORER_DIR: 'off', ...env })

afterAll(() => rmSync(place, { recursive: true, force: true }))

async function init(name: string, ...options: string[]) {
  const folder = join(place, name)
  return { folder, ...(await runCommand(initCommand(), [folder, ...options])) }
}

/** What a command prints that is run in a folder. */
function lqe(folder: string, ...args: string[]): string {
  return execFileSync(process.execPath, [program, ...args], {
    cwd: folder,
    env: ofFolder(),
    encoding: 'utf8',
  })
}

describe('lqe init', () => {
  test.each([
    ['own', 'app.latest', []],
    // `endpoint-tests/run.test.ts` has those of the others that ship.
    ['supabase', 'service.usage', ['logs.all', 'usage.api-counts']],
  ])('makes a folder whose endpoints pass their tests: %s', async (template, name, others) => {
    const { folder, code } = await init(`of ${template}`, `--template=${template}`)
    expect(code).toBe(0)
    expect(lqe(folder, 'test', name)).toMatch(new RegExp(`^= ${name} passed`, 'm'))
    const withoutSchema = (file: string) =>
      readFileSync(file, 'utf8').replace(/^# yaml-language-server.*/, '')
    for (const file of others.flatMap(other =>
      ['sql', 'yaml', 'test.yaml'].map(end => `queries/${other}.${end}`),
    ))
      expect(withoutSchema(join(folder, file))).toBe(withoutSchema(file))
  })

  test('leaves what is there as it is, so that it can be run again', async () => {
    const yaml = join(place, 'again/lqe.yaml')
    mkdirSync(join(place, 'again'))
    writeFileSync(yaml, 'PORT: 9090\n')
    expect((await init('again')).out).toContain('= lqe.yaml is there, and stays\n+ ')
    expect((await init('again')).out).not.toContain('+ ')
    expect(readFileSync(yaml, 'utf8')).toBe('PORT: 9090\n')
  })

  test('names this package in package.json as the only dependency, and where editors find schemas', async () => {
    const { folder } = await init('My Logs')
    expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).toMatchObject({
      name: 'my-logs',
      private: true,
      dependencies: { 'log-query-endpoints': `^${version}` },
    })
    for (const file of ['app.latest.yaml', 'app.latest.test.yaml']) {
      const text = readFileSync(join(folder, 'queries', file), 'utf8')
      const [, schema] = /\$schema=\.\.\/node_modules\/log-query-endpoints\/(\S+)/.exec(text)!
      expect(existsSync(schema!)).toBe(true)
    }
  })

  test.each([
    ['cloudbuild', 'cloudbuild.yaml'],
    ['github', '.github/workflows/lqe.yaml'],
  ])('makes a file of CI where it is asked for: %s', async (ci, file) => {
    const { folder } = await init(`with ${ci}`, `--ci=${ci}`)
    expect(readFileSync(join(folder, file), 'utf8')).toContain('--project=')
  })

  test('refuses a template that it does not have, and names those that it has', async () => {
    const { err, code } = await init('none', '--template=grafana')
    expect([code, err]).toEqual([1, expect.stringMatching(/Allowed choices are own, supabase/)])
    expect(existsSync(join(place, 'none'))).toBe(false)
  })
})

test('lqe start serves the folder with invented rows, and takes a file that is saved, or says where it is wrong', async () => {
  const { folder } = await init('served')
  cpSync('infra/docs/own-logs/app', join(folder, 'queries'), { recursive: true })
  const port = await freePort()
  const child = spawn(process.execPath, [program, 'start'], { cwd: folder, env: ofFolder({ PORT: port }) })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', text => (printed += String(text)))
  const until = async (found: () => Promise<boolean> | boolean) => {
    while (child.exitCode === null && !(await found())) await sleep(50)
  }
  try {
    await until(() => /^ {2}curl .*\n/m.test(printed))
    expect(printed).toContain('  app: 2000 rows\n')
    const [, address, key] = /curl -s '(\S+)' -H 'X-API-KEY: (\S+)'/.exec(printed)!
    const rows = async () => {
      const answer = await fetch(address!, { headers: { 'X-API-KEY': key! } })
      return ((await answer.json()) as { result: object[] }).result.length
    }
    expect(await rows()).toBe(100)
    const sql = join(folder, 'queries/app.latest.sql')
    const text = readFileSync(sql, 'utf8')
    writeFileSync(sql, text.replace('LIMIT 100', 'LIMIT 7'))
    await until(async () => (await rows()) === 7)
    await until(() => printed.includes('1 changed.'))
    expect(printed.slice(printed.indexOf('~ app.latest'))).not.toMatch(/^= /m)
    writeFileSync(sql, text.replace('LIMIT 100', 'LIMITS 100'))
    await until(() => printed.includes('What was in force before stays so.'))
    expect(printed).toMatch(/^queries\/app\.latest\.sql:\d+:\d+ /m)
    expect(await rows()).toBe(7)
  } finally {
    child.kill()
    if (child.exitCode === null) await once(child, 'exit')
  }
})
