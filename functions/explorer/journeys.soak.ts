/** The page and its forms as people use them, in a real Chromium; what would be missed first is in `journeys.test.ts`. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { buildExplorer } from '../../infra/deploy/build-explorer.ts'
import { apply } from '../../infra/lqe/apply/apply.ts'
import { loadConfig } from '../../shared/config.ts'
import type { View } from '../../shared/endpoints/views.ts'
import { faultsOf } from '../testing/browser.ts'
import { describeInChromium } from '../testing/tab.ts'
import { edgeRow } from '../testing/edges.ts'
import { serveBehind } from '../testing/prefix.ts'
import { startService, type TestService } from '../testing/service.ts'
import { warmEndpoints } from '../warm/handler.ts'

const now = '2026-03-10T12:30:30.000Z'
const project = 'abcdefghijklmnopqrst'
/** Requests by day of March, with days that had none. */
const byDay = { 4: 12, 5: 30, 8: 21, 9: 3, 10: 1200 }
const usage = `usage.api-counts?interval=daily&project=${project}`
const logs = `logs.all?project=${project}&.view=query`

/** Calls of the service by two keys, of which one misses the cache. */
const requests = Array.from({ length: 12 }, (_, hour) => ({
  id: `r${hour}`,
  timestamp: `2026-03-10T${String(hour).padStart(2, '0')}:15:00Z`,
  how: 'http',
  ...(hour === 3
    ? { status: 401, error: 'unauthenticated', ms: 0.2 }
    : {
        endpoint: 'logs.all',
        key: hour % 2 ? 'odd' : 'even',
        status: 200,
        cache: hour % 2 ? 'miss' : 'hit',
        ms: hour,
      }),
  ...(hour === 5 ? { bytes: 2 ** 40 } : {}),
}))

const folder = mkdtempSync(join(tmpdir(), 'explorer-'))
const queries = mkdtempSync(join(tmpdir(), 'explorer-queries-'))
let service: TestService
/** Bytes of all files, gzipped. */
let weight: number

beforeAll(async () => {
  weight = await buildExplorer(folder)
  cpSync('queries', queries, { recursive: true })
  const rows = Object.entries(byDay).flatMap(([day, count]) =>
    Array.from({ length: count }, (_, i) =>
      edgeRow(`${day}-${i}`, `2026-03-${day.padStart(2, '0')}T12:00:00Z`, project, '/rest/v1/<b>items</b>'),
    ),
  )
  const env = { FROZEN_NOW: now, EXPLORER_DIR: folder, QUERIES_DIR: queries, REMEMBER_MS: '1' }
  service = await startService({
    tables: { 'cloudflare.logs.prod': rows, 'service.requests': requests },
    queries,
    env,
  })
})

afterAll(async () => {
  await service.stop()
  for (const place of [folder, queries]) rmSync(place, { recursive: true, force: true })
})

describeInChromium('the page in Chromium', { width: 1280, height: 900 }, tab => {
  let page: Page
  /** Where the page is: it asks no other host. */
  let address: string

  beforeAll(() => {
    tab.context.on('request', request => {
      if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(new URL(address).origin))
        tab.wrong.push(request.url())
    })
  })
  beforeEach(() => {
    page = tab.page
    address = service.url
  })

  async function open(link: string, slash = '/'): Promise<void> {
    await page.goto(`${address}${slash}#${link}`)
    await page.getByLabel('API key').fill(service.key)
    await page.getByLabel('API key').press('Enter')
    await page.getByRole('heading', { name: link.split('?')[0]!, level: 2 }).waitFor()
  }

  const run = () => page.getByRole('button', { name: 'Run', exact: true }).click()
  const cells = (column: number) => page.locator(`.line > :nth-child(${column + 1})`).allTextContents()

  async function write(sql: string): Promise<void> {
    await page.getByText('SQL of your own', { exact: true }).click()
    const editor = page.getByRole('textbox', { name: 'SQL' })
    await editor.click()
    await page.getByText('Tables: ').waitFor()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText(sql)
  }

  test.each(['', '/'])('works behind the path of a function, at .../query%s', async slash => {
    const proxy = await serveBehind('/query', service.url)
    page = await tab.context.newPage()
    try {
      address = proxy.url
      await open(usage, slash)
      await page.getByRole('button', { name: 'Chart' }).waitFor()
      expect(page.url()).toBe(`${proxy.url}/#${usage}`)
      await page.getByRole('button', { name: 'Copy as curl' }).click()
      await page.getByRole('button', { name: 'Copied' }).waitFor()
      const copied = await page.evaluate(() => navigator.clipboard.readText())
      expect(copied).toContain(`'${proxy.url}/api/endpoints/query/usage.api-counts?`)
    } finally {
      await page.close()
      await proxy.stop()
    }
  })

  test('the key is kept in no address and not on the device; open tabs give it to new ones, and forget it together', async () => {
    const atForm = (each: Page) => each.getByLabel('API key').waitFor()
    const isOpen = (each: Page) => each.getByRole('button', { name: 'Chart' }).waitFor()
    await open(usage)
    await isOpen(page)
    expect(page.url()).toBe(`${service.url}/#${usage}`)
    await page.reload()
    await isOpen(page)
    const [other, third] = [await tab.context.newPage(), await tab.context.newPage()]
    await other.goto(page.url())
    await isOpen(other)
    const stored = await other.evaluate(() => JSON.stringify(localStorage) + document.cookie)
    expect(stored).not.toContain('lqe_')
    await other.getByRole('button', { name: 'Change key' }).click()
    await Promise.all([other, page].map(atForm))
    await page.getByLabel('API key').fill(service.key)
    await page.getByLabel('API key').press('Enter')
    await isOpen(page)
    await other.reload()
    await third.goto(page.url())
    await isOpen(third)
    await atForm(other) // there the next key is typed
  })

  test('behind a path, where the origin has pages of others, no other page hears of the key or finds it', async () => {
    const proxy = await serveBehind('/query', service.url)
    address = proxy.url
    try {
      const stranger = await tab.context.newPage()
      await stranger.goto(`${new URL(proxy.url).origin}/other/`)
      await stranger.evaluate(() => {
        const heard = ((globalThis as unknown as { heard: unknown[] }).heard ??= [])
        for (const name of ['lqe-key', 'lqe-key /', 'lqe-key /query/']) {
          const channel = new BroadcastChannel(name)
          channel.addEventListener('message', ({ data }) => heard.push(data))
          Object.assign(globalThis, { [name]: channel })
        }
      })
      await open(usage)
      await page.getByRole('button', { name: 'Chart' }).waitFor()
      const found = await stranger.evaluate(async () => {
        const all = globalThis as unknown as Record<string, BroadcastChannel> & { heard: unknown[] }
        for (const name of ['lqe-key', 'lqe-key /', 'lqe-key /query/'])
          // eslint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of its own origin alone
          all[name]!.postMessage({ wanted: true })
        await new Promise(resolve => setTimeout(resolve, 500))
        return [all.heard, Object.keys(localStorage).filter(name => name.includes('key'))]
      })
      expect(found).toEqual([[], []])
      await page.reload() // it stays in its tab
      await page.getByRole('button', { name: 'Chart' }).waitFor()
      const other = await tab.context.newPage()
      await other.goto(page.url())
      await other.getByLabel('API key').waitFor()
      expect(await other.getByLabel('Remember on this device').count()).toBe(0)
    } finally {
      await proxy.stop()
    }
  })

  test('a parameter that is missing is chosen from its examples, one that the key fixes is filled in', async () => {
    await open('usage.api-counts')
    await page.getByText('Fill in project, then press Run.').waitFor()
    await page.getByRole('button', { name: `project ${project}` }).click()
    await run()
    await page.getByRole('button', { name: 'Chart' }).waitFor()
    await page.getByRole('button', { name: 'Change key' }).click()
    await page.goto(`${address}/#usage.api-counts?interval=daily`)
    await page.getByLabel('API key').fill(await service.issue({ pins: { project } }))
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Chart' }).waitFor()
    await page.goto(`${address}/#logs.all`)
    await page.getByRole('grid', { name: 'Log entries' }).waitFor()
    expect(await page.getByLabel('project', { exact: true }).inputValue()).toBe(project)
  })

  test('the chart shows first, with the rows’ values, gaps as gaps, and lines that can be hidden, in less than 75 kB', async () => {
    expect(weight).toBeLessThan(300_000)
    await open(usage)
    await drawn()
    const sent = await page.evaluate(() => {
      const files = performance.getEntriesByType('resource') as PerformanceResourceTiming[]
      return files.filter(({ name }) => name.includes('/explorer/')).map(file => file.encodedBodySize)
    })
    expect(sent.length).toBeGreaterThan(1)
    expect(sent.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(75_000)
    await page.getByRole('group', { name: /over time/ }).focus()
    for (const [day, count] of Object.entries(byDay)) {
      await page.keyboard.press('ArrowRight')
      const spoken = `2026-03-${day.padStart(2, '0')} 00:00:00 UTC: total_rest_requests ${count.toLocaleString('en')},`
      await page.locator('.chart [role=status]', { hasText: spoken }).waitFor({ state: 'attached' })
    }
    expect(await page.locator('.chart path.line').count()).toBe(4)
    expect((await page.locator('.chart path.line').first().getAttribute('d'))!.match(/M/g)).toHaveLength(2)
    const ground = (await page.locator('.chart .ground').boundingBox())!
    const days = () => page.locator('.chart text.middle').allTextContents()
    expect(await days()).toEqual(['4 Mar', '5 Mar', '6 Mar', '7 Mar', '8 Mar', '9 Mar', '10 Mar'])
    await page.mouse.move(ground.x + ground.width * 0.01, ground.y + 20)
    await page.mouse.down()
    await page.mouse.move(ground.x + ground.width * 0.2, ground.y + 20, { steps: 3 })
    await page.mouse.up()
    await page.getByRole('button', { name: 'Whole time' }).waitFor()
    expect(await days()).toEqual(['4 Mar', '5 Mar'])
    await page.getByRole('button', { name: 'Whole time' }).click()
    expect(await days()).toHaveLength(7)
    const key = page.getByRole('button', { name: /total_rest_requests/ })
    await key.click()
    expect(await key.getAttribute('aria-pressed')).toBe('false')
    expect(await page.locator('.chart path.line').count()).toBe(3)
    await page.getByLabel('interval').selectOption('hourly')
    await run()
    await page.getByText('Buckets; no line goes through so few.').waitFor() // one hour of the last has requests
  })

  /** A chart is drawn once its width is known, which is after it is in the page. */
  const drawn = () => page.locator('.chart .ground').waitFor()

  test('shows where an answer came from, and to keys with the right how it is made', async () => {
    await open(`${usage}&colour=red`)
    await page.getByText('Ignored, as the endpoint does not declare it: colour.').waitFor()
    const facts = () => page.locator('.facts').innerText()
    await run()
    await page.getByText('cache', { exact: true }).waitFor()
    expect(await facts()).toMatch(/Rows\s+5\s+From\s+cache/)
    await page.getByText('Timings', { exact: true }).click()
    expect(await facts()).toMatch(/Key\s+[\d.]+ ms/)
    expect(await facts()).toMatch(/As of\s+20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC/)
    const how = page.getByText('How it is answered')
    await how.click()
    await page.getByRole('heading', { name: 'made of query 2 answers where' }).waitFor()
    expect(await page.getByLabel('SQL: query 3 answers every other call').textContent()).toBe(
      readFileSync('queries/usage.api-counts.sql', 'utf8'),
    )
    expect(await page.getByText(/^warmed every 300 s by one statement/).count()).toBe(3)
    await page.getByRole('button', { name: 'Change key' }).click()
    await page.getByLabel('API key').fill(await service.issue({}))
    await page.keyboard.press('Enter')
    await page.getByText('cache', { exact: true }).waitFor()
    expect(await how.count()).toBe(0)
  })

  test('rows fold out, and times keep their raw value', async () => {
    await open(logs)
    const first = page.getByRole('button', { name: 'Row 1, all fields' })
    await first.click()
    await page.locator('.detail summary', { hasText: /^request/ }).click()
    const detail = page.locator('.detail')
    await detail.getByText('/rest/v1/<b>items</b>', { exact: true }).waitFor()
    const time = page.locator('.line time').first()
    expect(await time.textContent()).toBe('2026-03-10 12:00:00')
    expect(await time.getAttribute('title')).toBe(String(Date.UTC(2026, 2, 10, 12) * 1000))
    await first.click()
    await detail.waitFor({ state: 'detached' })
  })

  test('own SQL runs with Ctrl-Enter; of a thousand rows only those in sight are drawn', async () => {
    await open(logs)
    await write('SELECT id, timestamp FROM edge_logs ORDER BY timestamp DESC')
    await page.keyboard.press('Control+Enter')
    await page.getByText('1000 rows.').waitFor()
    await page.getByText('There were more rows; the endpoint gives 1000 at most.').waitFor()
    expect(await page.locator('.line').count()).toBeLessThan(80)
    await page.getByRole('button', { name: 'Row 1, all fields' }).focus()
    await page.keyboard.press('End')
    await page.locator('.line[aria-rowindex="1001"] button:focus').waitFor()
    await page.keyboard.press('Home')
    await page.locator('.line[aria-rowindex="2"] button:focus').waitFor()
  })

  test('completes tables, and fields behind an UNNEST', async () => {
    await open(logs)
    await write(
      'SELECT r.path FROM edge_logs AS t CROSS JOIN UNNEST(t.metadata) AS m CROSS JOIN UNNEST(m.request) AS r WHERE r',
    )
    await page.keyboard.type('.me')
    await page.getByRole('option', { name: /method/ }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+a')
    await page.keyboard.type('SELECT COUNT(*) FROM edge')
    await page.getByRole('option', { name: /^edge_logs/ }).waitFor()
    await page.keyboard.type('_logs')
    await page.getByRole('option', { name: /^edge_logs/ }).waitFor()
    await page.keyboard.press('Control+Enter')
    await page.getByText('1 row.').waitFor()
    expect(await page.getByRole('option', { name: /^edge_logs/ }).count()).toBe(0)
    await page.getByText('Saved query', { exact: true }).click()
    await page.getByText('Not yet run.').waitFor()
    expect(await page.locator('.outcome.old').count()).toBe(1)
  })

  test('the worked examples run', async () => {
    await open(logs)
    await write('')
    const menu = page.getByLabel('Worked examples')
    const tables = await menu
      .locator('optgroup')
      .evaluateAll(groups => groups.map(group => group.getAttribute('label')))
    expect(tables).toEqual(expect.arrayContaining(['edge_logs', 'postgres_logs', 'pgbouncer_logs']))
    // The range is that of the form: no example has one of its own.
    const texts = await menu
      .locator('option')
      .evaluateAll(all => all.map(option => option.getAttribute('value')!))
    expect(texts.filter(text => /CURRENT_TIMESTAMP|TIMESTAMP_SUB/.test(text))).toEqual([])
    await menu.selectOption({ label: 'The busiest paths' })
    await run()
    await page.getByText('1 row.').waitFor()
    expect(await cells(1)).toEqual(['/rest/v1/<b>items</b>'])
    await write(
      'SELECT FORMAT_TIMESTAMP("%A", timestamp) AS name, COUNT(*) AS n, 404 AS status FROM edge_logs GROUP BY 1',
    )
    await run()
    await page.getByRole('button', { name: 'Bars' }).waitFor()
    const bars = () => page.locator('.ranked li').allTextContents()
    expect(await bars()).toEqual(['Tuesday1,200', 'Thursday30', 'Sunday21', 'Wednesday12', 'Monday3'])
    await page.getByLabel('Bars by').selectOption('status')
    await page.locator('.ranked li', { hasText: 'Tuesday404' }).waitFor()
  })

  test('a problem with a field stands beside it', async () => {
    await open(`${logs}&iso_timestamp_start=yesterday`)
    const field = page.getByLabel('iso_timestamp_start', { exact: true })
    await page.getByText(/^Must be an ISO 8601 time such as/).waitFor()
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    expect(await field.evaluate(element => document.activeElement === element)).toBe(true)
    await page.getByRole('button', { name: 'Last 24 hours', exact: true }).click()
    await page.getByText('100 rows, and there are more.').waitFor()
    expect(page.url()).toContain('iso_timestamp_start=-1d')
  })

  test('redacts with a switch', async () => {
    await open(logs)
    await page.getByText('203.0.113.7').first().waitFor()
    await page.getByRole('switch', { name: 'Redact personal data' }).check()
    expect(await page.getByText('203.0.113.7').count()).toBe(0)
    await page.getByText('redacted', { exact: true }).waitFor()
    expect(await page.getByText('203.0.113.7').count()).toBe(0)
    expect((await cells(3))[0]).toContain('REDACTED')
    expect(page.url()).toContain('.redact=true')
    await page.goBack()
    await page.getByText('203.0.113.7').first().waitFor()
    expect(await page.getByRole('switch', { name: 'Redact personal data' }).isChecked()).toBe(false)
    await page.goForward()
    await page.getByText('redacted', { exact: true }).waitFor()
  })

  test('on a phone the form folds once there are results, and unfolds where one writes', async () => {
    await page.setViewportSize({ width: 375, height: 740 })
    await open(logs)
    await page.getByText('100 rows, and there are more.').waitFor()
    await page.getByLabel('iso_timestamp_start', { exact: true }).waitFor({ state: 'hidden' })
    expect((await page.locator('.line').first().boundingBox())!.y).toBeLessThan(700)
    await page.getByText('Parameters and SQL').click()
    await page.getByLabel('iso_timestamp_start', { exact: true }).fill('yesterday')
    await run()
    await page.getByText(/^Must be an ISO 8601 time such as/).waitFor()
  })

  test('a theme is chosen, and kept on this device', async () => {
    await page.goto(service.url)
    const button = page.getByRole('button', { name: 'Theme: system' })
    const scheme = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)
    await button.click()
    await page.getByRole('button', { name: 'Theme: light' }).click()
    expect(await scheme()).toBe('dark')
    await page.reload()
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor()
    expect(await scheme()).toBe('dark')
  })

  test('copies a curl line without the key, and saves CSV', async () => {
    await open(usage)
    await page.getByRole('button', { name: 'Copy as curl' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toContain(`curl -s '${service.url}/api/endpoints/query/usage.api-counts?interval=daily`)
    expect(copied).not.toContain(service.key)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('usage.api-counts.csv')
    const text = readFileSync(await download.path(), 'utf8')
    expect(text.split('\r\n')[1]).toBe('2026-03-04 00:00:00,12,0,0,0')
    expect(text.startsWith('\ufeff')).toBe(true)
  })

  test('Back, Forward and a reload show the rows of the SQL that ran', async () => {
    await open(logs)
    const showsRow = (n: string) => page.locator('.line').getByText(n, { exact: true }).waitFor()
    for (const n of ['1001', '1002']) {
      await write(`SELECT ${n} AS n`)
      await run()
      await showsRow(n)
    }
    await page.goBack()
    await showsRow('1001')
    await page.goForward()
    await showsRow('1002')
    await page.reload()
    await showsRow('1002')
  })

  describe('views', () => {
    const dialog = () => page.getByRole('dialog', { name: 'Views' })
    const shelf = (name: string) => dialog().getByRole('region', { name })
    const openViews = () => page.getByRole('button', { name: 'Views', exact: true }).click()
    const gets = `logs.all?project=${project}&.from=&.to=&.search=GET`

    async function openLogs(link: string, key = service.key): Promise<void> {
      await page.goto(`${address}/#${link}`)
      await page.getByLabel('API key').fill(key)
      await page.keyboard.press('Enter')
      await page.getByText(/^100 of 1,266 rows/).waitFor()
    }
    async function save(name: string): Promise<void> {
      const field = dialog().getByLabel('Save what is asked now as')
      await field.fill(name)
      await field.press('Enter')
    }
    const said = (text: string) => dialog().getByRole('status').getByText(text).waitFor()

    test('of the logs are saved for others, opened, renamed and deleted, and the last ones are at hand', async () => {
      await openLogs(gets)
      await openViews()
      await save('Gets')
      await said('Saved as Gets.')
      await save('Gets')
      await dialog()
        .getByText(/^There is a view “Gets” by test, 2\d{3}-.* UTC\.$/)
        .waitFor()
      await dialog().getByRole('button', { name: 'Save over it' }).click()
      await said('Saved as Gets.')
      expect(await faultsOf(page)).toEqual([])
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Clear all' }).click()
      await page.waitForURL(url => !url.hash.includes('search'))
      await openViews()
      expect(await shelf('Recent').getByRole('listitem').allTextContents()).toEqual([
        `all time, project ${project}`,
        `“GET”, all time, project ${project}`,
      ])
      await shelf('Saved').getByRole('button', { name: 'Gets', exact: true }).click()
      expect(decodeURIComponent(new URL(page.url()).hash)).toBe(`#${gets}`)
      await expect(page.getByLabel('Search messages').inputValue()).resolves.toBe('GET')
      await openViews()
      await shelf('Saved').getByRole('button', { name: 'Rename Gets' }).click()
      await page.keyboard.press('Control+a')
      await page.keyboard.insertText('All gets')
      await page.keyboard.press('Enter')
      await said('Gets is All gets now.')
      await page.setViewportSize({ width: 375, height: 700 })
      expect(await faultsOf(page)).toEqual([])
      await shelf('Saved').getByRole('button', { name: 'Delete All gets' }).click()
      await shelf('Saved').getByRole('button', { name: 'Keep it' }).click()
      await shelf('Saved').getByRole('button', { name: 'Delete All gets' }).click()
      await shelf('Saved').getByRole('button', { name: 'Delete All gets for good' }).click()
      await said('Deleted All gets.')
      await shelf('Saved').waitFor({ state: 'detached' })
    })

    test('that another changed meanwhile stay as they are, and one is told', async () => {
      await openLogs(gets)
      await openViews()
      await save('Ours')
      await said('Saved as Ours.')
      const views = '/api/endpoints/logs.all/views'
      const { result } = (await (await service.fetch(views)).json()) as { result: View[] }
      const { id, version } = result.find(({ name }) => name === 'Ours')!
      const headers = { 'If-Match': `"${version}"`, 'Content-Type': 'application/json' }
      const body = JSON.stringify({ name: 'Ours', address: '#logs.all?.search=theirs' })
      await service.fetch(`${views}/${id}`, { method: 'PUT', headers, body })
      await shelf('Saved').getByRole('button', { name: 'Delete Ours' }).click()
      await shelf('Saved').getByRole('button', { name: 'Delete Ours for good' }).click()
      await said('The view was changed by test: nothing was changed; read the views again.')
      const ours = shelf('Saved').getByRole('button', { name: 'Ours', exact: true })
      expect(await ours.getAttribute('title')).toBe('“theirs”')
    })

    test('of SQL stay on the device where the key may not save for others', async () => {
      const key = await service.issue({ endpoints: ['logs.all'] })
      await openLogs(gets, key)
      await page.getByRole('button', { name: 'Query and SQL' }).click()
      await write('SELECT COUNT(*) AS n FROM edge_logs')
      await openViews()
      await save('how many') // it has not run yet
      await said('Saved as how many.')
      await page.keyboard.press('Escape')
      await page.reload()
      await openViews()
      await shelf('On this device').getByRole('button', { name: 'how many', exact: true }).click()
      await page.getByText('This link brings a query of its own. Read it, then press Run.').waitFor()
      await run()
      await page.locator('.line', { hasText: '1266' }).waitFor()
      await openViews()
      const first = shelf('Recent').getByRole('listitem').first()
      expect(await first.textContent()).toBe('SELECT COUNT(*) AS n FROM edge_logs')
    })
  })

  describe('Save as endpoint', () => {
    const dialog = () => page.getByRole('dialog', { name: 'Save as endpoint' })

    test('shows the two files, downloads them, and writes them once one has said so', async () => {
      await page.goto(`${address}/#logs.all?project=${project}&.from=&.to=&.columns=metadata.request.method`)
      await page.getByLabel('API key').fill(service.key)
      await page.keyboard.press('Enter')
      await page.getByText(/^100 of 1,266 rows/).waitFor()
      await page.getByRole('button', { name: 'Save as endpoint' }).click()
      await dialog().getByLabel('Name').fill('Not a name')
      await page.keyboard.press('Tab')
      await dialog().getByRole('alert').getByText('must be lower-case letters').waitFor()
      await dialog().getByLabel('Name').fill('app.all')
      await page.keyboard.press('Tab')
      await dialog().getByRole('heading', { name: 'app.all.yaml' }).waitFor()
      expect(await dialog().getByLabel('app.all.sql').textContent()).toContain(
        'FROM `cloudflare.logs.prod` AS t',
      )
      expect(await faultsOf(page)).toEqual([])
      const downloads: string[] = []
      page.on('download', file => downloads.push(file.suggestedFilename()))
      await dialog().getByRole('button', { name: 'Download both' }).click()
      await dialog().getByRole('button', { name: 'Write to queries/' }).click()
      expect(readdirSync(queries)).not.toContain('app.all.sql')
      await dialog().getByRole('button', { name: 'Write them' }).click()
      await dialog().getByText('Written. Waiting until app.all is in force').waitFor()
      expect(downloads.toSorted()).toEqual(['app.all.sql', 'app.all.yaml'])
      await apply(service.services, { queries, dryRun: false, out: () => {} }) // as `npm start` does
      await page.getByRole('heading', { name: 'app.all', level: 2 }).waitFor()
      await page.getByText('100 rows: the LIMIT').waitFor()
      expect(new URL(page.url()).hash).toBe(`#app.all?project=${project}`)
      expect(await page.locator('.line').first().textContent()).toMatch(/GET$/)
    })

    test('takes SQL that was typed, and is not there for keys that may not see SQL', async () => {
      await open(logs)
      await page.getByRole('button', { name: 'Save as endpoint' }).click()
      await dialog().getByText('The saved query is an endpoint already.').waitFor()
      await page.keyboard.press('Escape')
      await write('SELECT COUNT(*) AS n FROM edge_logs')
      await page.getByRole('button', { name: 'Save as endpoint' }).click()
      await dialog().getByText('SELECT COUNT(*) AS n').waitFor()
      await page.keyboard.press('Escape')
      await page.evaluate(() => [localStorage, sessionStorage].forEach(storage => storage.clear()))
      const key = await service.issue({})
      await page.goto('about:blank')
      await page.goto(`${address}/#${logs}`)
      await page.getByLabel('API key').fill(key)
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Views', exact: true }).waitFor()
      expect(await page.getByRole('button', { name: 'Save as endpoint' }).count()).toBe(0)
    })
  })

  test('an alert is made of the logs, and shows its state and its rows', async () => {
    const dialog = page.getByRole('dialog', { name: 'New alert' })
    const alerts = page.getByRole('article')
    await page.goto(`${address}/#logs.all?project=${project}&.from=&.to=`)
    await page.getByLabel('API key').fill(service.key)
    await page.keyboard.press('Enter')
    await page.getByText(/^100 of 1,266 rows/).waitFor()
    await page.getByRole('button', { name: 'Alerts' }).click()
    await alerts.getByText('No alert looks at this endpoint').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.goBack()
    await page.getByText(/^100 of 1,266 rows/).waitFor()
    await page.getByRole('button', { name: 'New alert' }).click()
    await dialog.getByLabel('Window').selectOption('last day')
    await dialog.getByLabel('Bound').fill('0')
    await dialog.getByLabel('Name').fill('app.busy')
    await page.keyboard.press('Tab')
    await dialog.getByRole('heading', { name: 'app.busy.alert.yaml' }).waitFor()
    expect(await faultsOf(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Write to queries/' }).click()
    await dialog.getByRole('button', { name: 'Write them' }).click()
    await dialog.getByText('Written. Waiting until app.busy is in force').waitFor()
    await apply(service.services, { queries, dryRun: false, out: () => {} }) // as `npm start` does
    await alerts.getByText('1 alert: 1 not evaluated yet').waitFor()
    const { services, env } = service
    const made = (await services.endpoints.find('app.busy'))!
    await warmEndpoints({ services, config: loadConfig(env), log: () => {} }, [made])
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange'))) // as one comes back
    await alerts.getByText('1 alert: 1 firing').waitFor()
    await alerts.getByText('Entries: 1200').click()
    await alerts.getByText('nobody: it shows here and in the log').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await alerts.getByRole('button', { name: 'Show the rows' }).click()
    await page.getByText('1 row.').waitFor()
    expect(await cells(1)).toEqual(['1200'])
  })

  test('SQL goes to a file, and comes from one', async () => {
    await open(logs)
    await write('SELECT COUNT(*) AS n FROM edge_logs')
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    expect((await download).suggestedFilename()).toBe('query.sql')
    await page.getByLabel('A file of SQL').setInputFiles({
      name: 'other.sql',
      mimeType: 'application/sql',
      buffer: Buffer.from('SELECT id FROM edge_logs WHERE id = "4-0" LIMIT 5\n'),
    })
    await run()
    await page.getByText('1 row.').waitFor()
    expect(await cells(1)).toEqual(['4-0'])
    await page.getByRole('button', { name: 'Format' }).click()
    await page.getByText('Not yet run.').waitFor()
  })

  test('results and errors of SQL are in sight without scrolling at 1024 x 768, and a refused place is underlined', async () => {
    await page.setViewportSize({ width: 1024, height: 768 })
    await open(logs)
    await write('SELECT id FROM edge_logs LIMIT 3')
    await run()
    await page.getByText('3 rows: the LIMIT, so there may be more.').waitFor()
    expect(await page.locator('.run').evaluate(row => row.getBoundingClientRect().bottom)).toBeLessThan(600)
    const bottom = async (selector: string) => (await page.locator(selector).first().boundingBox())!.y
    expect(await bottom('.line')).toBeLessThan(740)
    await write('SELECT id\nFROM nowhere')
    await run()
    await page
      .getByText(/is not a table of this endpoint/)
      .first()
      .waitFor()
    expect(await bottom('.failure')).toBeLessThan(700)
    expect(await page.locator('.cm-lintRange-error').textContent()).toBe('nowhere')
  })

  test('copies where the browser has no clipboard for scripts, as on plain HTTP', async () => {
    page = await tab.context.newPage() // the script stays with it
    await page.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
    await open(usage)
    await page.getByRole('button', { name: 'Copy link' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
  })

  test('can be used with the keyboard alone', async () => {
    await page.goto(`${service.url}/#${logs}`)
    await page.keyboard.insertText(service.key) // the field has the focus
    await page.keyboard.press('Enter')
    await page.getByText('100 rows, and there are more.').waitFor()
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
    for (let i = 0; i < 60 && (await focused()) !== 'Endpoint'; i++) await page.keyboard.press('Tab')
    await page.keyboard.press('End')
    await page.getByRole('heading', { name: 'usage.api-counts', level: 2 }).waitFor()
    await page.getByLabel('interval').focus()
    for (let i = 0; i < 2; i++) await page.keyboard.press('ArrowDown') // past hourly
    await page.keyboard.press('Control+Enter')
    await page.getByRole('button', { name: 'Chart' }).waitFor()
    expect(page.url()).toContain(usage)
  })

  test('the list of all commands opens by Ctrl-K, finds by name, and does what is chosen', async () => {
    const command = async (text: string) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog', { name: 'All commands' }).waitFor()
      await page.getByRole('listbox').waitFor()
      await page.keyboard.type(text)
    }
    await page.goto(`${service.url}/#logs.all?project=p`)
    await page.getByLabel('API key').fill(service.key)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'More actions' }).waitFor()
    await command('table auth_logs')
    expect(await faultsOf(page)).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByRole('listbox').waitFor({ state: 'hidden' })
    expect(page.url()).toContain('.table=auth_logs')
    await command('theme dark')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor()
    await command('endpoint service.usage')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Usage', level: 2 }).waitFor()
    await page.reload() // with the key of the tab, which is there at once
    await page.getByRole('heading', { name: 'Usage', level: 2 }).waitFor()
    await command('keyboard shortcuts')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Ctrl-K').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
  })

  test('usage is a table and a chart by endpoint, version or key, for a key that may see it', async () => {
    await page.setViewportSize({ width: 375, height: 740 })
    await page.goto(`${service.url}/#service.usage`)
    await page.getByLabel('API key').fill(service.key)
    await page.getByLabel('API key').press('Enter')
    await page.getByText('12 calls, 1 error, $6.25.').waitFor()
    await drawn()
    expect(await faultsOf(page)).toEqual([])
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.getByRole('combobox', { name: 'By' }).focus()
    await page.keyboard.press('End')
    await page.getByRole('button', { name: /^even/ }).waitFor() // of the legend
    expect(page.url()).toContain('#service.usage?by=key&iso_timestamp_start=-1d')
    await page.getByRole('cell', { name: 'odd' }).waitFor()
    expect(await cells(5)).toEqual(['10', '11', '0.2'])
    expect(await faultsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Query', exact: true }).click()
    await page.getByRole('heading', { name: 'service.usage', level: 2 }).waitFor()
    await page.evaluate(() => sessionStorage.clear())
    await page.goto('about:blank')
    await page.goto(`${service.url}/#service.usage`)
    await page.getByLabel('API key').fill(await service.issue({ endpoints: ['logs.all'] }))
    await page.keyboard.press('Enter')
    await page.getByText('There is no endpoint service.usage for this key.').waitFor()
  })

  test.each([
    ['light', 375],
    ['dark', 1600],
  ] as const)('is accessible: %s, %d pixels wide', async (colorScheme, width) => {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    await page.goto(service.url)
    await page.getByLabel('API key').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await open(usage)
    await page.getByRole('button', { name: 'Chart' }).waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.goto(`${service.url}/#${logs}`)
    await page.getByRole('button', { name: 'Row 1, all fields' }).click()
    expect(await faultsOf(page)).toEqual([])
    await write('SELECT id FROM nowhere')
    await run()
    await page.getByRole('alert').waitFor()
    expect(await faultsOf(page)).toEqual([])
  })
})
