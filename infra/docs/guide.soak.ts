/**
 * No sentence of the guide is untried: each shell block of the operators' pages runs in its shell, in order, against the stand-ins,
 * as somebody runs it who follows the page. Removals come last.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openRehearsal, type Rehearsal } from '../google/control/open-rehearsal.ts'
import { blocksOfGuide, reasonNotToRun } from './testing/guide.ts'

const isRemoval = (command: string) => / deploy remove (?!.*--(region|dry-run))/.test(command)
const blocks = blocksOfGuide()
const order = [
  ...blocks.filter(({ commands }) => !commands.some(isRemoval)),
  ...blocks.filter(({ commands }) => commands.some(isRemoval)),
]
const minutes = 5 * 60_000

/** Of the repository, as somebody has cloned it. */
const clone = mkdtempSync(join(tmpdir(), 'guide-'))
let rehearsal: Rehearsal
/** What the last deployment printed `For lqe`. */
let settings = ''

beforeAll(async () => {
  for (const name of [
    'functions',
    'shared',
    'queries',
    'infra',
    'package.json',
    'package-lock.json',
    'README.md',
  ])
    cpSync(name, join(clone, name), { recursive: true })
  symlinkSync(resolve('node_modules'), join(clone, 'node_modules'))
  rehearsal = await openRehearsal({ out: () => {}, folder: clone })
  const { project } = rehearsal
  const { resources } = project.plane.state
  const logflare = 'logflare@logflare-232118.iam.gserviceaccount.com'
  resources[`projects/logflare-232118/serviceAccounts/${logflare}`] = { email: logflare }
  resources[`projects/${project.id}/locations/europe-west1/github/my-owner/my-repository`] = {} // connected, as in a browser
  const row = { timestamp: new Date().toISOString(), project: 'p', event_message: 'm' }
  writeFileSync(join(clone, 'edge.ndjson.gz'), gzipSync(JSON.stringify(row)))
}, minutes)

afterAll(async () => {
  await rehearsal.stop()
  rmSync(clone, { recursive: true })
}, minutes)

/** Runs lines in one shell, as the owner. @throws Error that names the line which failed */
async function inShell(at: string, lines: string[]): Promise<string> {
  const script = lines.map((line, n) => `echo "#${n}#" >&2\n${line}`).join('\n')
  const { project } = rehearsal
  const home = `export INIT_CWD='${clone}' DATA_DIR='${clone}/.data'`
  const whole = `set -e\n${home}\n${settings}\n${script}`
  const { status, output } = await project.run(
    'sh',
    ['-c', whole],
    'owner@example.com',
    clone,
    rehearsal.reach,
  )
  const last = Number(
    output
      .match(/#(\d+)#/g)
      ?.at(-1)
      ?.slice(1, -1) ?? 0,
  )
  if (status !== 0) throw new Error(`${at}: ${lines[last]}\nended with ${status}:\n${output.slice(-1500)}`)
  settings = /export ENGINE=.*/.exec(output)?.[0] ?? settings
  return output
}

/** What stands in the page for something of the reader's own. */
const placeholders: [placeholder: RegExp, own: (command: string) => Promise<string> | string][] = [
  [/my-project|<walkthrough-project-id\/>/g, () => rehearsal.project.id],
  [/(query|warm)-00007-abc/g, found => `${found.split('-')[0]}-00001-abc`],
  [/2026-11-22T20:15:00Z/g, () => new Date(Date.now() - 120_000).toISOString()],
  [/\bID\b/g, async () => /^(\w+) +active/m.exec(await inShell('keys', ['npx lqe key list']))![1]!],
  [/1f2e3d4c|5b6a7988/g, async found => (await versions())[found === '5b6a7988' ? 0 : 1]!],
]

async function filled(command: string): Promise<string> {
  let text = command
  for (const [placeholder, own] of placeholders)
    for (const found of new Set(text.match(placeholder) ?? []))
      text = text.replaceAll(found, await own(found))
  return text
}

/** Of `usage.api-counts`, of which a second one is made. @returns their hashes */
async function versions(): Promise<string[]> {
  const file = join(clone, 'queries/usage.api-counts.yaml')
  const before = readFileSync(file, 'utf8')
  const listed = () => inShell('versions', ['npx lqe versions usage.api-counts'])
  const hashes = async () => [...(await listed()).matchAll(/^\W*([0-9a-f]{8,})/gm)].map(match => match[1]!)
  if ((await hashes()).length < 2) {
    writeFileSync(file, before.replace('sandbox: true', 'sandbox: true\nmaxRows: 999'))
    await inShell('a second version', ['npx lqe apply --no-test'])
    writeFileSync(file, before)
  }
  return hashes()
}

/** Firestore's emulator restores nothing: documents go to every database that has been made. */
async function copyDocuments(): Promise<void> {
  const { resources } = rehearsal.project.plane.state
  const database = `projects/${rehearsal.project.id}/databases/`
  const backup = `projects/${rehearsal.project.id}/locations/eur3/backups/b1`
  resources[backup] = {
    name: backup,
    database: `${database}(default)`,
    snapshotTime: new Date().toISOString(),
  }
  const names = Object.keys(resources).filter(
    name => name.startsWith(database) && name.split('/').length === 4,
  )
  const from = rehearsal.documents()
  for (const name of names.map(one => one.slice(database.length)).filter(one => one !== '(default)')) {
    const to = rehearsal.documents(name)
    for (const collection of await from.listCollections())
      for (const { id, ref } of (await collection.get()).docs)
        await to
          .collection(collection.id)
          .doc(id)
          .set((await ref.get()).data()!)
    await to.terminate()
  }
  await from.terminate()
}

test.each(order)(
  '$at',
  async ({ at, commands }) => {
    const lines: string[] = []
    for (const command of commands) {
      const reason = reasonNotToRun(command)
      if (reason) console.log(`${at}: not run, ${reason}: ${command}`)
      else lines.push(await filled(command))
    }
    const output: string[] = []
    if (lines.some(line => /restore|--database=/.test(line)))
      for (const line of lines) {
        await copyDocuments()
        output.push(await inShell(at, [line]))
      }
    else output.push(await inShell(at, lines))
    const isRelease = lines.some(line => / deploy push /.test(line))
    expect(/^The page: .*^A call: /ms.test(output.join('\n')) || !isRelease).toBe(true)
  },
  minutes,
)
