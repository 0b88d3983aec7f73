/**
 * What a person would miss first on the page, in a real Chromium over one service. The journeys beside these, which take minutes, are
 * in `journeys.soak.ts` and `logs/journeys.soak.ts`; what needs no browser is in the tests beside each file.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Page, Route } from 'playwright-core'
import { buildExplorer } from '../../infra/deploy/build-explorer.ts'
import { apply } from '../../infra/lqe/apply/apply.ts'
import { loadLogs } from '../../infra/lqe/logs/load.ts'
import { loadConfig } from '../../shared/config.ts'
import { faultsOf } from '../testing/browser.ts'
import { startService, type TestService } from '../testing/service.ts'
import { describeInChromium } from '../testing/tab.ts'
import { warmEndpoints } from '../warm/handler.ts'
import { webEntry, project } from './testing/web-entries.ts'

const began = Date.now()
/** One entry each ten seconds over 50 minutes; those of the last five minutes fail. */
const entries = 300
/** Two minutes before the entries were made: few rows, as axe looks at each. */
const lately = new Date(began - 120_000).toISOString()
const plain = `#logs.all?project=${project}`
const form = `${plain}&.view=query`

const folder = mkdtempSync(join(tmpdir(), 'journeys-'))
const queries = join(folder, 'queries')
let service: TestService
/** Bytes of all files of the page, gzipped. */
let weight: number

beforeAll(async () => {
  weight = await buildExplorer(join(folder, 'page'))
  cpSync('queries', queries, { recursive: true })
  const rows = Array.from({ length: entries }, (_, i) =>
    webEntry(i, began - (5 + i * 10) * 1000, i < 30 ? 500 : 200),
  )
  service = await startService({
    tables: { 'cloudflare.logs.prod': rows },
    queries,
    env: { EXPLORER_DIR: join(folder, 'page'), QUERIES_DIR: queries, REMEMBER_MS: '1' },
  })
})

afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

describeInChromium('journeys', { width: 1024, height: 768 }, tab => {
  let page: Page
  beforeEach(() => void (page = tab.page))

  /** With a key of every right, until its rows are counted. */
  async function open(link = plain, text = /of 300 rows/): Promise<void> {
    await enter(link)
    await counted(text)
  }
  async function enter(link: string): Promise<void> {
    await page.goto(`${service.url}/${link}`)
    await page.keyboard.insertText(service.key) // the field has the focus
    await page.keyboard.press('Enter')
  }
  const counted = (text: RegExp) => page.locator('.logs-facts', { hasText: text }).waitFor()
  const rows = () => page.locator('.row:not(.head)')
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const legend = (text: string) => page.getByRole('button', { name: text })
  const entryPane = () => page.getByRole('region', { name: 'Fields of the entry' })

  /** A button of what is not asked for first. */
  async function inMore(name: string) {
    const act = page.locator('.popover').getByRole('button', { name, exact: true })
    if (!(await act.isVisible())) await button('More actions').click()
    return act
  }

  test('a key opens the rows of the last hour, is in no address and not on the device, and another one is refused', async () => {
    await open('')
    expect(page.url()).toBe(`${service.url}/${plain}`)
    expect(await page.evaluate(() => JSON.stringify(localStorage) + document.cookie)).not.toContain('lqe_')
    const inSight = await rows().evaluateAll(
      all => all.filter(row => row.getBoundingClientRect().bottom < innerHeight).length,
    )
    expect(inSight).toBeGreaterThanOrEqual(15)
    await page.reload() // the tab has the key
    await counted(/of 300 rows/)
    await button('Change key').click()
    await page.getByLabel('API key').fill('lqe_unknown')
    await page.keyboard.press('Enter')
    await page.getByText('The service does not know this key.').waitFor()
  })

  test('what is searched, pressed in the legend or chosen in an entry narrows the rows, and Back widens them again', async () => {
    await open()
    await legend('5xx 30').click()
    await counted(/^30 rows/)
    await page.goBack()
    await counted(/of 300 rows/)
    await page.getByRole('searchbox', { name: 'Search' }).fill('items/1')
    await page.keyboard.press('Enter')
    await counted(/100 hits/)
    expect(new Set(await page.locator('.cell-message mark').allTextContents())).toEqual(new Set(['items/1']))
    await rows().first().click()
    const leaf = page.locator('.leaf', { hasText: /^status_code/ })
    await leaf.hover()
    await leaf.getByRole('button', { name: 'Filter out' }).click()
    await counted(/^90 rows/)
    expect(await page.locator('.chip').allTextContents()).toEqual(['response.status_code != 500'])
    expect(decodeURIComponent(page.url())).toContain('.where=metadata.response.status_code!=500')
    await rows().first().click()
    await leaf.hover()
    await leaf.getByRole('button', { name: 'Filter for this or less' }).click()
    await page.locator('.chip', { hasText: 'response.status_code <= ' }).waitFor()
    await button('Clear all').click()
    await counted(/of 300 rows/)
    await button('Fields').click()
    await page.locator('.field-name', { hasText: 'origin_time' }).first().click()
    await page
      .getByRole('button', { name: /^1,1\d\d ms$/ })
      .first()
      .click()
    await page.locator('.chip', { hasText: /^response.origin_time >= 1\d\d\d$/ }).waitFor()
    await counted(/^\d+ rows/)
    await button('Clear all').click()
    await button('Fields').click()
    await counted(/of 300 rows/)
    expect(page.url()).toBe(`${service.url}/${plain}`)
  })

  test('a range is drawn in the chart, and the one before is a press away', async () => {
    await open(`${plain}&.severity=error`, /^30 rows/)
    const box = (await page.locator('.bars').boundingBox())!
    await page.mouse.move(box.x + box.width * 0.05, box.y + 30)
    await page.getByText(/: none$/).waitFor()
    await page.mouse.move(box.x + box.width * 0.93, box.y + 30)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.94, box.y + 30, { steps: 4 })
    await page.mouse.up()
    await page.waitForURL(/from=20\d\d-/)
    await counted(/^(\d|1\d|2\d) rows?/)
    await button('Previous range').click()
    await counted(/^30 rows/)
    expect(await page.getByLabel('Time range').inputValue()).toBe('now-1h')
  })

  test('rows leave the page as CSV, and those of the question before neither leave it nor open', async () => {
    await open()
    const downloading = page.waitForEvent('download')
    await (await inMore('CSV of rows shown')).click()
    const file = await downloading
    const [head, newest, ...others] = readFileSync(await file.path(), 'utf8').split('\r\n')
    expect([file.suggestedFilename(), head, others.length]).toEqual([
      'edge_logs.csv',
      '\ufeffid,timestamp (UTC),severity,event_message',
      100,
    ])
    expect(newest).toMatch(/^entry-0000,20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3},500,GET \|/)
    const held: Route[] = []
    await page.route('**/api/endpoints/query/**', route => void held.push(route))
    await page.getByLabel('Severity').selectOption('5xx')
    for (const name of ['Copy link', 'CSV of rows shown', 'JSON of rows shown'])
      expect([name, await (await inMore(name)).isDisabled()]).toEqual([name, true])
    await page.keyboard.press('Escape')
    const { x, y } = (await rows().nth(2).boundingBox())!
    await page.mouse.click(x + 300, y + 5)
    expect(page.url()).not.toContain('.row=')
    await page.unroute('**/api/endpoints/query/**')
    await Promise.all(held.map(route => route.continue().catch(() => {})))
    await counted(/^30 rows/)
    expect(await (await inMore('CSV of rows shown')).isEnabled()).toBe(true)
  })

  test('redaction takes the rows away before it has others', async () => {
    await open(`${plain}&.from=${lately}`, /^1\d rows/)
    const address = page.getByText('203.0.113.7')
    expect(await address.count()).toBeGreaterThan(10)
    const held: Route[] = []
    await page.route('**/api/endpoints/query/**', route => void held.push(route))
    await page.getByLabel('Redact').check()
    expect(await address.count()).toBe(0)
    await page.unroute('**/api/endpoints/query/**')
    await Promise.all(held.map(route => route.continue().catch(() => {})))
    await page.getByText('REDACTED').first().waitFor()
    expect(await address.count()).toBe(0)
    expect(page.url()).toContain('.redact=true')
  })

  test('a form runs its saved query and SQL of one’s own, as a chart and as rows, underlines what is refused, and weighs less than 75 kB before the editor', async () => {
    await enter(`#usage.api-counts?interval=daily&project=${project}`)
    await page.locator('.chart .ground').waitFor()
    await page.getByText('The last bucket, shaded, is not finished.').waitFor()
    const sent = await page.evaluate(() => {
      const files = performance.getEntriesByType('resource') as PerformanceResourceTiming[]
      return files.filter(({ name }) => name.includes('/explorer/')).map(file => file.encodedBodySize)
    })
    expect(sent.length).toBeGreaterThan(1)
    expect(sent.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(75_000)
    expect(weight).toBeLessThan(300_000)
    await page.goto(`${service.url}/${form}`)
    await page.getByText('100 rows, and there are more.').waitFor()
    await page.getByText('SQL of your own', { exact: true }).click()
    const write = async (sql: string) => {
      await page.getByRole('textbox', { name: 'SQL' }).click()
      await page.keyboard.press('Control+a')
      await page.keyboard.insertText(sql)
      await page.keyboard.press('Control+Enter')
    }
    await write('SELECT event_message, COUNT(*) AS n FROM edge_logs GROUP BY 1 ORDER BY n DESC, 1 LIMIT 3')
    await page.getByRole('button', { name: 'Bars', exact: true }).waitFor()
    expect(await page.locator('.ranked li').first().textContent()).toMatch(/items\/090$/)
    await page.getByRole('button', { name: 'Table', exact: true }).click()
    await page.locator('.line', { hasText: /90$/ }).first().waitFor()
    await write('SELECT id\nFROM nowhere')
    await page
      .getByText(/is not a table of this endpoint/)
      .first()
      .waitFor()
    expect(await page.locator('.cm-lintRange-error').textContent()).toBe('nowhere')
  })

  test('all can be done from the keyboard: rows, entries, and every command by its name', async () => {
    await open()
    for (const key of ['j', 'j', 'k', 'Enter']) await page.keyboard.press(key)
    await entryPane().waitFor()
    await page.keyboard.press('j')
    await page.locator('.row[aria-selected=true]', { hasText: 'items/1' }).waitFor()
    await entryPane().getByText('/rest/v1/items/1', { exact: true }).first().waitFor()
    await page.keyboard.press('Escape')
    await entryPane().waitFor({ state: 'hidden' })
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Ctrl-K').waitFor()
    await page.keyboard.press('Escape')
    const command = async (text: string) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog', { name: 'All commands' }).getByRole('listbox').waitFor()
      await page.keyboard.type(text)
    }
    await command('list: patterns')
    expect(await faultsOf(page)).toEqual([])
    await page.keyboard.press('Enter')
    await page
      .locator('.patterns tbody tr', { hasText: 'GET | <n> | <ip> | /rest/v1/items/<n>' })
      .first()
      .waitFor()
    await command('endpoint service.usage')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Usage', level: 2 }).waitFor()
  })

  test('on a phone the controls fold, the rows come first, an entry covers the screen, and all is accessible', async () => {
    await page.setViewportSize({ width: 375, height: 740 })
    await open(`${plain}&.from=${lately}&.by=metadata.request.path`, /^1\d rows/)
    expect(await page.getByLabel('Severity').isVisible()).toBe(false)
    expect((await rows().first().boundingBox())!.y).toBeLessThan(370)
    await rows().first().click()
    await entryPane().waitFor()
    expect(await page.locator('.beside-rows').boundingBox()).toMatchObject({ x: 0, y: 0, width: 375 })
    expect(await faultsOf(page)).toEqual([])
    await button('Close the entry').click()
    await page.locator('.beside-rows').waitFor({ state: 'hidden' })
    expect(await faultsOf(page)).toEqual([])
  })

  test('what is dark is accessible, and bars of 4xx and 5xx differ in lightness in both themes', async () => {
    await page.emulateMedia({ colorScheme: 'dark' })
    await open(`${plain}&.from=${lately}`, /^1\d rows/)
    await rows().first().click()
    await entryPane().waitFor()
    expect(await faultsOf(page)).toEqual([])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const [failed, refused] = await page.locator('.bars').evaluate(bars =>
        ['error', 'warning'].map(name => {
          const rect = bars.appendChild(document.createElementNS('http://www.w3.org/2000/svg', 'rect'))
          rect.style.setProperty('fill', `var(--bar-${name})`)
          const parts = getComputedStyle(rect)
            .fill.match(/\d+/g)!
            .map(part => (Number(part) / 255) ** 2.2)
          return 0.05 + 0.2126 * parts[0]! + 0.7152 * parts[1]! + 0.0722 * parts[2]!
        }),
      )
      expect([colorScheme, refused! / failed! > 1.8]).toEqual([colorScheme, true])
    }
  })

  describe('what is on the page becomes files', () => {
    const dialog = (name: string) => page.getByRole('dialog', { name })
    const inForce = () => apply(service.services, { queries, dryRun: false, out: () => {} }) // as `npm start` does

    test('an endpoint, once one has said so', async () => {
      await open(`${plain}&.columns=metadata.request.method`)
      await button('Save as endpoint').click()
      const saving = dialog('Save as endpoint')
      await saving.getByLabel('Name').fill('app.all')
      await page.keyboard.press('Tab')
      await saving.getByRole('heading', { name: 'app.all.yaml' }).waitFor()
      expect(await faultsOf(page)).toEqual([])
      await saving.getByRole('button', { name: 'Write to queries/' }).click()
      expect(readdirSync(queries)).not.toContain('app.all.sql')
      await saving.getByRole('button', { name: 'Write them' }).click()
      await saving.getByText('Written. Waiting until app.all is in force').waitFor()
      await inForce()
      await page.getByRole('heading', { name: 'app.all', level: 2 }).waitFor()
      await page.getByText('100 rows: the LIMIT').waitFor()
      expect(await page.locator('.line').first().textContent()).toMatch(/GET$/)
    })

    test('an alert, which shows its state and its rows', async () => {
      const alerts = page.getByRole('article')
      await open(plain)
      await button('New alert').click()
      const making = dialog('New alert')
      await making.getByLabel('Window').selectOption('last day')
      await making.getByLabel('Bound').fill('0')
      await making.getByLabel('Name').fill('app.busy')
      await page.keyboard.press('Tab')
      await making.getByRole('heading', { name: 'app.busy.alert.yaml' }).waitFor()
      await making.getByRole('button', { name: 'Write to queries/' }).click()
      await making.getByRole('button', { name: 'Write them' }).click()
      await making.getByText('Written. Waiting until app.busy is in force').waitFor()
      await inForce()
      await alerts.getByText('1 alert: 1 not evaluated yet').waitFor()
      const { services, env } = service
      const made = (await services.endpoints.find('app.busy'))!
      await warmEndpoints({ services, config: loadConfig(env), log: () => {} }, [made])
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange'))) // as one comes back
      await alerts.getByText('1 alert: 1 firing').waitFor()
      expect(await faultsOf(page)).toEqual([])
      await alerts.getByText('Entries: 300').click()
      await alerts.getByRole('button', { name: 'Show the rows' }).click()
      await page.getByText('1 row.').waitFor()
      expect(await page.locator('.line').first().textContent()).toContain('300')
    })
  })

  // The last: its entry stays.
  test('follow adds new entries at the top and to the chart, and takes those away that leave the range', async () => {
    await page.clock.install()
    // By the `Date` of an answer the page would take back the jumps of its clock.
    await page.route('**/api/**', async route => {
      const response = await route.fetch()
      const { date: _, ...headers } = response.headers()
      await route.fulfill({ response, headers })
    })
    await open(`${plain}&.from=now-15m`, /rows/) // in buckets of 15 seconds
    await legend('5xx 30').waitFor()
    // From here on its clock goes by jumps alone, however long the machine takes.
    await page.clock.pauseAt(await page.evaluate(() => Date.now() + 100))
    await button('Follow').click()
    await page.getByText('waiting for new rows').waitFor()
    const file = join(folder, 'new.ndjson')
    writeFileSync(file, `${JSON.stringify(webEntry(9999, Date.now(), 503))}\n`)
    const { DATA_DIR = '' } = service.env
    const { tablesDir: tablesFolder } = loadConfig({ DATA_DIR })
    const logsFolder = join(DATA_DIR, 'logs')
    await loadLogs({ logsFolder, tablesFolder, table: 'cloudflare.logs.prod', files: [file], out: () => {} })
    await page.clock.fastForward(3000) // to its next look
    await page.locator('.row.new', { hasText: 'GET | 503' }).waitFor()
    await page.clock.fastForward(6000) // past a third of a bucket, and to its next look
    await legend('5xx 31').waitFor()
    const all = await rows().count()
    await page.clock.fastForward(120_000)
    await rows()
      .nth(all - 10)
      .waitFor({ state: 'detached' }) // the last 15 minutes begin two minutes later
    await button('Following').click()
    await button('Run').waitFor()
  })
})
