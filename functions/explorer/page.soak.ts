/**
 * A person who presses this and that, on a slow machine, of a service whose answers are late, reordered, cut or refused: at any
 * moment what leaves the page is of the question in the address, and a reload of the address shows the same.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, jest, test } from '@jest/globals'
import { buildExplorer } from '../../infra/deploy/build-explorer.ts'
import { Random } from '../../shared/sandbox/testing/random.ts'
import { edgeRow } from '../testing/edges.ts'
import { startService } from '../testing/service.ts'
import { slowDown } from '../testing/slow.ts'
import { describeInChromium } from '../testing/tab.ts'
import { readLink } from './link.ts'

const project = 'qhzvnxwtrkdplmcoyaeb' // the example of the parameter
const seed = Number(process.env['SOAK_SEED'] ?? Date.now() % 1e6)
const steps = Number(process.env['SOAK_STEPS'] ?? 2000)
const plain = `#logs.all?project=${project}&.from=&.to=`

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
  row: `click(document.querySelectorAll('.row:not(.head)')[3])`,
  again: `press('Try again')`,
  back: `history.back()`,
  forward: `history.forward()`,
}

/** In the page: how controls are found, and the JSON of rows where it may be taken, with the address of that moment. */
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
  const leaving = async () => {
    let blob = null
    const make = URL.createObjectURL
    URL.createObjectURL = made => ((blob = made), make(made))
    click(document.querySelector('[aria-label="More actions"]'))
    await new Promise(done => setTimeout(done))
    const hash = location.hash
    press('JSON of rows shown')
    URL.createObjectURL = make
    document.querySelector('.popover:popover-open')?.hidePopover()
    return blob && { hash, rows: JSON.parse(await blob.text()) }
  }`

interface Taken {
  hash: string
  rows: { severity?: unknown; event_message?: string; id: string }[]
}

describeInChromium('a slow and failing service', { width: 1280, height: 900 }, tab => {
  test('shows nothing of another question, and every address is what it shows', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'explorer-'))
    await buildExplorer(folder)
    const began = Date.now()
    const rows = Array.from({ length: 60 }, (_, i) => {
      const status = i % 4 === 0 ? 500 : 200
      const path = `/items/${i % 3}`
      const row = edgeRow(`entry-${i}`, new Date(began - i * 60_000).toISOString(), project, path)
      const { request } = row.metadata
      return {
        ...row,
        event_message: `${status} ${path}`,
        metadata: { request, response: { status_code: status } },
      }
    })
    const service = await startService({
      tables: { 'cloudflare.logs.prod': rows },
      env: { EXPLORER_DIR: folder },
    })
    const random = new Random(seed)
    const trouble = { slower: 4, late: 0, wrong: 0 }
    const counts: Record<string, number> = {}
    try {
      const { page } = tab
      const taken = () =>
        page.evaluate(`(async () => {${person}\nreturn leaving() })()`) as Promise<Taken | null>
      const check = (found: Taken | null) => {
        if (!found) return
        counts['taken'] = (counts['taken'] ?? 0) + 1
        const view = Object.fromEntries(readLink(found.hash)!.view)
        const wrong = found.rows.filter(
          ({ event_message: text = '' }) =>
            (view['severity'] === 'error' && !text.startsWith('500')) || !text.includes(view['search'] ?? ''),
        )
        expect({ seed, hash: found.hash, wrong }).toEqual({ seed, hash: found.hash, wrong: [] })
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
        await page.evaluate(`(async () => {${person}\n${acts[name]} })()`)
        await page.waitForTimeout(random.below(200))
        check(await taken())
        if (step % 40 > 0) continue
        Object.assign(trouble, { late: 0, wrong: 0 })
        await page.goto(`${service.url}/${plain}&.severity=error&.search=items`)
        await page.locator('.logs-facts', { hasText: /^15 rows/ }).waitFor({ timeout: 60_000 })
        const shown = await taken()
        check(shown)
        await page.reload()
        await page.locator('.logs-facts', { hasText: /^15 rows/ }).waitFor({ timeout: 60_000 })
        expect(await taken()).toEqual(shown)
        expect({ seed, step, wrong: tab.wrong }).toEqual({ seed, step, wrong: [] })
      }
      process.stdout.write(`seed ${seed}, ${steps} steps: ${JSON.stringify(counts)}\n`)
    } finally {
      await service.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
