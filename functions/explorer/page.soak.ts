/**
 * A person who presses this and that, on a slow machine, of a service whose answers are late, reordered, cut or refused: at any
 * moment what leaves the page, as JSON or as CSV, is of the question in the address, rows that are greyed open nothing, the chart is
 * compared where the address says so alone, and a reload of the address shows the same. Rows come in, and may be followed.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, jest, test } from '@jest/globals'
import { buildExplorer } from '../../infra/deploy/build-explorer.ts'
import { loadLogs } from '../../infra/lqe/logs/load.ts'
import { loadConfig } from '../../shared/config.ts'
import { Random } from '../../shared/sandbox/testing/random.ts'
import { edgeRow } from '../testing/edges.ts'
import { startService, type TestService } from '../testing/service.ts'
import { slowDown } from '../testing/slow.ts'
import { describeInChromium } from '../testing/tab.ts'
import { readLink } from './address.ts'

const project = 'qhzvnxwtrkdplmcoyaeb' // the example of the parameter
const seed = Number(process.env['SOAK_SEED'] ?? Date.now() % 1e6)
const steps = Number(process.env['SOAK_STEPS'] ?? 2000)
const all = `#logs.all?project=${project}`
const plain = `${all}&.from=&.to=`

jest.setTimeout(3_600_000)

/** What a person does: each finds its control in the page, and does nothing where that is not there or disabled. */
const acts: Record<string, string> = {
  errors: `choose('Severity', 'error')`,
  all: `choose('Severity', '')`,
  search: `write('Search', 'items/1')`,
  unsearched: `write('Search', '')`,
  table: `choose('Table', 'edge_logs')`,
  tables: `choose('Table', '*')`,
  usage: `choose('Endpoint', 'service.usage')`,
  logs: `choose('Endpoint', 'logs.all')`,
  form: `press('Query and SQL')`,
  view: `press('Logs')`,
  run: `press('Run')`,
  stop: `press('Stop')`,
  patterns: `press('Patterns')`,
  entries: `press('Entries')`,
  row: `return pressRow()`,
  again: `press('Try again')`,
  follow: `press('Follow')`,
  quarter: `choose('Time range', 'now-15m')`,
  ever: `choose('Time range', '')`,
  compare: `choose('Compare with', 'before')`,
  alone: `choose('Compare with', '')`,
  back: `if (navigation.canGoBack) history.back()`, // not to the blank page of the beginning
  forward: `if (navigation.canGoForward) history.forward()`,
}

/**
 * In the page: how controls are found, and the rows as a file where they may be taken, with the address of that moment. A row may open
 * where it is not greyed alone.
 */
const person = `
  const isFree = each => each && !each.disabled && !each.closest('[inert], [hidden], fieldset:disabled')
  const click = each => isFree(each) && each.click()
  const named = name => [...document.querySelectorAll('button')].find(each => each.textContent.trim().startsWith(name))
  const press = name => click(named(name))
  const field = (kind, label) => document.querySelector(kind + '[aria-label^="' + label + '"]')
  const choose = (label, value) => {
    const menu = field('select', label)
    if (!isFree(menu)) return
    menu.value = value
    menu.dispatchEvent(new Event('change', { bubbles: true }))
  }
  const write = (label, text) => {
    const input = field('input', label)
    if (!isFree(input)) return
    input.value = text
    input.dispatchEvent(new Event('input', { bubbles: true }))
    input.form.requestSubmit()
  }
  const rowOf = () => new URLSearchParams(location.hash.split('?')[1]).get('.row')
  const pressRow = () => {
    const [row, before] = [document.querySelectorAll('.row:not(.head)')[3], rowOf()]
    const isGreyed = Boolean(row?.closest('.old'))
    click(row)
    return isGreyed && rowOf() !== before ? location.hash : null
  }
  const leaving = async kind => {
    let blob = null
    const make = URL.createObjectURL
    URL.createObjectURL = made => ((blob = made), make(made))
    click(document.querySelector('[aria-label="More actions"]'))
    await new Promise(done => setTimeout(done))
    const hash = location.hash
    const isCompared = Boolean(document.querySelector('.histogram:not(.old) .bars .before'))
    press(kind + ' of rows shown')
    URL.createObjectURL = make
    document.querySelector('.popover:popover-open')?.hidePopover()
    return blob && { hash, isCompared, text: await blob.text() }
  }`

const kinds = ['JSON', 'CSV'] as const

interface Taken {
  hash: string
  isCompared: boolean
  text: string
}

interface TakenRow {
  event_message?: string
  /** Milliseconds since 1970. */
  at: number
}

/** No value of the rows has a comma. */
function rowsOf(kind: (typeof kinds)[number], text: string): TakenRow[] {
  if (kind === 'JSON') {
    const rows = JSON.parse(text) as { event_message?: string; timestamp: number }[]
    return rows.map(({ timestamp, ...row }) => ({ ...row, at: timestamp / 1000 }))
  }
  const [head = [], ...rows] = text.split('\r\n').map(line => line.replace('\ufeff', '').split(','))
  const named = rows
    .filter(row => row.length > 1)
    .map(row => Object.fromEntries(row.map((value, i) => [head[i], value])))
  return named.map(row => ({ ...row, at: Date.parse(`${row['timestamp (UTC)']!.replace(' ', 'T')}Z`) }))
}

/** @param at milliseconds since 1970 */
function entryOf(i: number, at: number): { id: string; event_message: string; metadata: object } {
  const status = i % 4 === 0 ? 500 : 200
  const path = `/items/${i % 3}`
  const row = edgeRow(`entry-${i}`, new Date(at).toISOString(), project, path)
  const metadata = { request: row.metadata.request, response: { status_code: status } }
  return { ...row, event_message: `${status} ${path}`, metadata }
}

/** From a file of its own: another load of the same one would take the place of the first. */
async function load(service: TestService, folder: string, row: { id: string }): Promise<void> {
  const file = join(folder, `${row.id}.ndjson`)
  writeFileSync(file, `${JSON.stringify(row)}\n`)
  const { DATA_DIR = '' } = service.env
  const { tablesDir: tablesFolder } = loadConfig({ DATA_DIR })
  const logsFolder = join(DATA_DIR, 'logs')
  await loadLogs({ logsFolder, tablesFolder, table: 'cloudflare.logs.prod', files: [file], out: () => {} })
}

describeInChromium('a slow and failing service', { width: 1280, height: 900 }, tab => {
  test('shows nothing of another question, and every address is what it shows', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'explorer-'))
    await buildExplorer(join(folder, 'page'))
    const began = Date.now()
    const rows = Array.from({ length: 60 }, (_, i) => entryOf(i, began - i * 60_000))
    const service = await startService({
      tables: { 'cloudflare.logs.prod': rows },
      env: { EXPLORER_DIR: join(folder, 'page') },
    })
    /** Of all rows, those that fail. */
    let failing = 15
    /** When the page was last sent to an address: what it shows was asked later. */
    let sent = began
    const random = new Random(seed)
    const trouble = { slower: 4, late: 0, wrong: 0 }
    const counts: Record<string, number> = {}
    try {
      const { page } = tab
      /** Where Back leaves what was loaded before a reload, the page begins anew meanwhile. */
      const inPage = (code: string): Promise<unknown> =>
        page.evaluate(`(async () => {${person}\n${code} })()`).catch((error: unknown) => {
          if (!String(error).includes('Execution context was destroyed')) throw error
          return null
        })
      const taken = (kind: (typeof kinds)[number]) =>
        inPage(`return leaving('${kind}')`) as Promise<Taken | null>
      const check = async (kind: (typeof kinds)[number]) => {
        const found = await taken(kind)
        if (!found) return null
        counts[kind] = (counts[kind] ?? 0) + 1
        const view = Object.fromEntries(readLink(found.hash)!.view)
        const earliest = view['from'] === 'now-15m' ? sent - 15 * 60_000 - 1000 : 0
        const wrong = rowsOf(kind, found.text).filter(
          ({ event_message: text = '', at }) =>
            (view['severity'] === 'error' && !text.startsWith('500')) ||
            !text.includes(view['search'] ?? '') ||
            !(at >= earliest),
        )
        const isWronglyCompared = found.isCompared && view['compare'] !== 'before'
        const said = { seed, hash: found.hash, kind }
        expect({ ...said, wrong, isWronglyCompared }).toEqual({
          ...said,
          wrong: [],
          isWronglyCompared: false,
        })
        return found
      }
      const shows = async () => {
        const text = new RegExp(`^${failing} rows`)
        const facts = page.locator('.logs-facts', { hasText: text })
        await facts.waitFor({ timeout: 60_000 }).catch(async (error: unknown) => {
          const shown = await page.locator('.logs-facts, .problem, .logs [role=status]').allInnerTexts()
          throw new Error(`seed ${seed}, ${page.url()} shows: ${shown.join(' | ')}`, { cause: error })
        })
      }
      await page.goto(`${service.url}/${plain}`)
      await page.getByLabel('API key').fill(service.key)
      await page.getByLabel('API key').press('Enter')
      await page.locator('.logs-facts', { hasText: '60 rows' }).waitFor()
      await slowDown(tab.context, random, trouble)
      for (let step = 1; step <= steps; step++) {
        Object.assign(trouble, { late: 300, wrong: 6 })
        const name = random.pick(Object.keys(acts))
        counts[name] = (counts[name] ?? 0) + 1
        const opened = await inPage(acts[name]!)
        expect({ seed, step, opened: opened ?? null }).toEqual({ seed, step, opened: null })
        await page.waitForTimeout(random.below(200))
        await check(random.pick(kinds))
        if (step % 40 > 0) continue
        Object.assign(trouble, { late: 0, wrong: 0 })
        const from = new Date(Date.UTC(2020) + step * 1000).toISOString() // a question that was not asked before
        await page.goto(`${service.url}/${all}&.from=${from}&.severity=error&.search=items`)
        await shows()
        const shown = await check('JSON')
        await page.reload()
        await shows()
        expect(await check('JSON')).toEqual(shown)
        expect({ seed, step, wrong: tab.wrong }).toEqual({ seed, step, wrong: [] })
        sent = Date.now()
        failing++
        await load(service, folder, entryOf(1000 + step, sent))
      }
      process.stdout.write(`seed ${seed}, ${steps} steps: ${JSON.stringify(counts)}\n`)
    } finally {
      await service.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
