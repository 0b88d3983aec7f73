/** The explorer as people use it, in a real Chromium. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { buildExplorer } from '../../infra/deploy/build-explorer.ts'
import { faultsOf } from '../testing/browser.ts'
import { describeInChromium } from '../testing/tab.ts'
import { edgeRow } from '../testing/edges.ts'
import { serveBehind } from '../testing/prefix.ts'
import { startService, type TestService } from '../testing/service.ts'

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
let service: TestService
/** Bytes of all files, gzipped. */
let weight: number

beforeAll(async () => {
  weight = await buildExplorer(folder)
  const rows = Object.entries(byDay).flatMap(([day, count]) =>
    Array.from({ length: count }, (_, i) =>
      edgeRow(`${day}-${i}`, `2026-03-${day.padStart(2, '0')}T12:00:00Z`, project, '/rest/v1/<b>items</b>'),
    ),
  )
  const env = { FROZEN_NOW: now, EXPLORER_DIR: folder }
  service = await startService({
    tables: { 'cloudflare.logs.prod': rows, 'service.requests': requests },
    env,
  })
})

afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
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
    await page.keyboard.press('Enter')
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
      await page.getByRole('tab', { name: 'Chart' }).waitFor()
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
    const isOpen = (each: Page) => each.getByRole('tab', { name: 'Chart' }).waitFor()
    await open(usage)
    await isOpen(page)
    expect(page.url()).toBe(`${service.url}/#${usage}`)
    await page.reload()
    await isOpen(page)
    const [other, third] = [await tab.context.newPage(), await tab.context.newPage()]
    await other.goto(page.url())
    await isOpen(other)
    expect(await other.evaluate(() => [localStorage.length, document.cookie])).toEqual([0, ''])
    await other.getByRole('button', { name: 'Change key' }).click()
    await Promise.all([other, page].map(atForm))
    await page.getByLabel('API key').fill(service.key)
    await page.keyboard.press('Enter')
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
      await page.getByRole('tab', { name: 'Chart' }).waitFor()
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
      await page.getByRole('tab', { name: 'Chart' }).waitFor()
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
    await page.getByRole('tab', { name: 'Chart' }).waitFor()
    await page.getByRole('button', { name: 'Change key' }).click()
    await page.goto(`${address}/#usage.api-counts?interval=daily`)
    await page.getByLabel('API key').fill(await service.issue({ pins: { project } }))
    await page.keyboard.press('Enter')
    await page.getByRole('tab', { name: 'Chart' }).waitFor()
    await page.goto(`${address}/#logs.all`)
    await page.getByRole('grid', { name: 'Log entries' }).waitFor()
    expect(await page.getByLabel('project', { exact: true }).inputValue()).toBe(project)
  })

  test('refuses an unknown key', async () => {
    await page.goto(service.url)
    await page.getByLabel('API key').fill('lqe_unknown')
    await page.keyboard.press('Enter')
    await page.getByText('The service does not know this key.').waitFor()
  })

  test('the chart shows first, with the rows’ values, and gaps as gaps', async () => {
    await open(usage)
    await drawn()
    await page.getByRole('group', { name: /over time/ }).focus()
    for (const [day, count] of Object.entries(byDay)) {
      await page.keyboard.press('ArrowRight')
      const spoken = `2026-03-${day.padStart(2, '0')} 00:00:00 UTC: total_rest_requests ${count.toLocaleString('en')},`
      await page.locator('.chart [role=status]', { hasText: spoken }).waitFor({ state: 'attached' })
    }
    expect(await drawnHeights()).toEqual({ misplaced: [], inGap: 0 })
    await page.getByLabel('interval').selectOption('hourly')
    await run()
    await page.getByText('Buckets; no line goes through so few.').waitFor() // one hour of the last has requests
  })

  /** A chart is drawn once its width is known, which is after it is in the page. */
  const drawn = () => page.locator('.chart .u-over').waitFor()

  /** Looks for the first line's colour where each value should be drawn, and in the middle of the gap. */
  function drawnHeights() {
    return page.evaluate(
      values => {
        const canvas = document.querySelector('canvas')!
        const over = document.querySelector<HTMLElement>('.u-over')!
        const scale = devicePixelRatio
        const frame = over.getBoundingClientRect()
        const outer = canvas.getBoundingClientRect()
        const ink = canvas.getContext('2d')!
        const most = Math.max(...Object.values(values)) * 1.08
        const days = Object.keys(values).map(Number)
        const [first, last] = [days[0]!, days.at(-1)!]
        const at = (day: number, value: number, span: number) => {
          const x = (frame.left - outer.left + ((day - first) / (last - first)) * frame.width) * scale
          const y = (frame.top - outer.top + (1 - value / most) * frame.height) * scale
          return ink.getImageData(Math.round(x) - span, Math.round(y) - span, 2 * span + 1, 2 * span + 1).data
        }
        const blue = (pixels: Uint8ClampedArray) => {
          let found = 0
          for (let i = 0; i < pixels.length; i += 4)
            if (pixels[i]! < 60 && pixels[i + 2]! > 150 && pixels[i + 3]! > 150) found++
          return found
        }
        const misplaced = days.filter(day => blue(at(day, values[day]!, 2)) === 0)
        return { misplaced, inGap: blue(at(6.5, 25, 20)) }
      },
      byDay as Record<number, number>,
    )
  }

  test('weighs less than 300 kB, and with a chart, before the editor, less than 120 kB', async () => {
    expect(weight).toBeLessThan(300_000)
    await open(usage)
    await drawn()
    const sent = await page.evaluate(() => {
      const files = performance.getEntriesByType('resource') as PerformanceResourceTiming[]
      return files.filter(({ name }) => name.includes('/explorer/')).map(file => file.encodedBodySize)
    })
    expect(sent.length).toBeGreaterThan(3)
    expect(sent.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(120_000)
  })

  test('a line can be hidden', async () => {
    await open(usage)
    await drawn()
    expect((await drawnHeights()).misplaced).toEqual([])
    const key = page.getByRole('button', { name: /total_rest_requests/ })
    await key.click()
    expect(await key.getAttribute('aria-pressed')).toBe('false')
    expect((await drawnHeights()).misplaced).not.toEqual([])
  })

  test('shows where an answer came from', async () => {
    await open(`${usage}&colour=red`)
    await page.getByText('Ignored, as the endpoint does not declare it: colour.').waitFor()
    const facts = () => page.locator('.facts').innerText()
    await run()
    await page.getByText('cache', { exact: true }).waitFor()
    expect(await facts()).toMatch(/Rows\s+5\s+From\s+cache/)
    expect(await facts()).toMatch(/Key\s+[\d.]+ ms/)
    expect(await facts()).toMatch(/As of\s+20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC/)
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
  })

  test('a refused place is underlined', async () => {
    await open(logs)
    await write('SELECT id\nFROM nowhere')
    await run()
    await page
      .getByRole('alert')
      .getByText(/is not a table of this endpoint/)
      .waitFor()
    expect(await page.locator('.cm-lintRange-error').textContent()).toBe('nowhere')
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
    // Rows that come after the form was changed are not what it asks.
    const changed = Promise.withResolvers<void>()
    await page.route('**/api/endpoints/query/**', async route => {
      await changed.promise
      await route.continue()
    })
    await run()
    await page.getByLabel('iso_timestamp_end', { exact: true }).fill('2026-03-09')
    changed.resolve()
    await page.getByText('Not yet run.').waitFor()
    expect(await page.locator('.outcome.old [role=table]').count()).toBe(1)
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

  test('different units have axes of their own, whole numbers whole ticks, and the time is the range that was asked', async () => {
    page = await tab.context.newPage() // the script stays with it
    await page.addInitScript(() => {
      const drawn: string[] = []
      const { fillText } = CanvasRenderingContext2D.prototype
      CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
        drawn.push(text)
        fillText.call(this, text, ...place)
      }
      Object.assign(window, { drawn })
    })
    const columns = 'COUNT(*) AS requests, 100.5 AS share_percent, 250 AS p95_ms'
    const sql = `SELECT TIMESTAMP_TRUNC(t.timestamp, DAY) AS day, ${columns} FROM edge_logs AS t WHERE t.id IN ("4-0", "5-0", "8-0") GROUP BY 1`
    const asked = 'iso_timestamp_start=2026-03-01&iso_timestamp_end=2026-03-10'
    await open(`${logs}&${asked}&sql=${encodeURIComponent(sql)}`)
    await page.getByText('This link brings a query of its own.').waitFor()
    await run()
    await drawn()
    const labels = await page.evaluate(() => (window as unknown as { drawn: string[] }).drawn)
    expect(labels).toEqual(
      expect.arrayContaining(['2 Mar', '9 Mar', '0', '1', '0 %', '100 %', '0 ms', '200 ms']),
    )
    expect(labels.filter(label => /^\d*\.\d+$/.test(label))).toEqual([])
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

  test('results of the question before do not leave the page while another runs, and keep their own link', async () => {
    await open(usage)
    const csv = page.getByRole('button', { name: 'Download CSV' })
    await csv.waitFor()
    let release = () => {}
    const held = new Promise<void>(resolve => (release = resolve))
    await page.route('**/api/endpoints/query/**', async route => {
      await held
      await route.continue().catch(() => {})
    })
    await page.getByLabel('interval').selectOption('hourly')
    await run()
    await page.getByText('Running …').waitFor()
    const { x, y } = (await csv.boundingBox())!
    const saved: unknown[] = []
    page.once('download', download => saved.push(download))
    await page.mouse.click(x + 5, y + 5)
    expect([saved, await page.locator('.outcome').evaluate((each: HTMLElement) => each.inert)]).toEqual([
      [],
      true,
    ])
    release()
    await page.locator('.outcome:not([inert])').waitFor()
    await page.getByRole('button', { name: 'Copy link' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url())
  })

  test('a link with SQL waits to be run', async () => {
    await open(`${logs}&sql=${encodeURIComponent('SELECT COUNT(*) AS n FROM edge_logs')}`)
    await page.getByText('This link brings a query of its own.').waitFor()
    await run()
    await page.getByText('1 row.').waitFor()
    expect(await cells(1)).toEqual(['1266'])
  })

  test('a time that is shown is a bound, and keeps its row', async () => {
    await open(logs)
    await page.getByLabel('iso_timestamp_end', { exact: true }).fill('2026-03-09 12:00:00')
    await run()
    await page.locator('.line').first().getByText('2026-03-09 12:00:00', { exact: true }).waitFor()
    await page.getByLabel('iso_timestamp_end', { exact: true }).fill('2026-03-09 11:59:59.999999')
    await run()
    await page.locator('.line').first().getByText('2026-03-08 12:00:00', { exact: true }).waitFor()
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

  test('queries that ran are in the history, saved ones under their names, also as files', async () => {
    await open(logs)
    await write('SELECT COUNT(*) AS n FROM edge_logs')
    await run()
    await page.getByText('1 row.').waitFor()
    await page.getByLabel('Name of the query').fill('how many')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    const file = await download
    expect(file.suggestedFilename()).toBe('how many.sql')
    await page.reload()
    await page.getByText('1 row.').waitFor()
    await page.getByRole('textbox', { name: 'SQL' }).waitFor()
    expect(await page.getByLabel('History').locator('option').nth(1).textContent()).toMatch(/^SELECT COUNT/)
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
    await page.getByLabel('Saved queries').selectOption('how many')
    await run()
    await page.locator('.line', { hasText: '1266' }).waitFor()
  })

  test('results and errors of SQL are in sight without scrolling at 1024 x 768', async () => {
    await page.setViewportSize({ width: 1024, height: 768 })
    await open(logs)
    await write('SELECT id FROM edge_logs LIMIT 3')
    await run()
    await page.getByText('3 rows: the LIMIT, so there may be more.').waitFor()
    expect(await page.locator('.run').evaluate(row => row.getBoundingClientRect().bottom)).toBeLessThan(600)
    const bottom = async (selector: string) => (await page.locator(selector).first().boundingBox())!.y
    expect(await bottom('.line')).toBeLessThan(740)
    await write('SELECT nothing FROM edge_logs')
    await run()
    await page.getByRole('alert').waitFor()
    expect(await bottom('.failure')).toBeLessThan(700)
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
    await page.getByRole('tab', { name: 'Chart' }).waitFor()
    expect(page.url()).toContain(usage)
  })

  test('usage is a table and a chart by endpoint, version or key, for a key that may see it', async () => {
    await page.setViewportSize({ width: 375, height: 740 })
    await page.goto(`${service.url}/#service.usage`)
    await page.getByLabel('API key').fill(service.key)
    await page.keyboard.press('Enter')
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

  test('shows that the service cannot be reached', async () => {
    await open(usage)
    await page.getByRole('tab', { name: 'Chart' }).waitFor()
    await page.route('**/api/**', route => route.abort())
    await run()
    await page.getByRole('alert').getByText('The service could not be reached').waitFor()
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
    await page.getByRole('tab', { name: 'Chart' }).waitFor()
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
