/** The logs view as people use it, in a real Chromium; what would be missed first is in `../journeys.test.ts`. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { Locator, Page, Request, Response, Route } from 'playwright-core'
import { buildExplorer } from '../../../infra/deploy/build-explorer.ts'
import { loadLogs } from '../../../infra/lqe/logs/load.ts'
import { faultsOf } from '../../testing/browser.ts'
import { describeInChromium } from '../../testing/tab.ts'
import { loadConfig } from '../../../shared/config.ts'
import { startService, type TestService } from '../../testing/service.ts'
import { appRow, withAppLogs } from '../testing/app-logs.ts'
import { project, webEntry } from '../testing/web-entries.ts'

const began = Date.now()
/** One entry each ten seconds over 50 minutes; those of the last five minutes fail. */
const entries = 300
/** Nine minutes before the rows were made, however long ago that is. */
const lately = new Date(began - 540_000).toISOString()

/** `+01:00`, of the browser's zone. */
function offset(): string {
  const text = new Intl.DateTimeFormat('en', { timeZoneName: 'longOffset' }).format()
  return /GMT(.+)$/.exec(text)?.[1] ?? '+00:00'
}

/** Where the line under the cursor stands in the chart, from 0 to 1. */
function cursorPlace(): number {
  const over = document.querySelector('.chart .ground')!.getBoundingClientRect()
  return (document.querySelector('.chart .brush')!.getBoundingClientRect().x - over.x) / over.width
}

describeInChromium('the logs view in Chromium', { width: 1024, height: 768 }, tab => {
  const folder = mkdtempSync(join(tmpdir(), 'explorer-'))
  let service: TestService
  let page: Page

  beforeAll(async () => {
    await buildExplorer(join(folder, 'page'))
    const rows = Array.from({ length: entries }, (_, i) =>
      webEntry(i, began - (5 + i * 10) * 1000, i < 30 ? 500 : 200),
    )
    const app = Array.from({ length: 30 }, (_, i) => appRow(i, new Date(began - i * 60_000).toISOString()))
    const signIns = [1, 2].map(i => ({
      id: `sign-in-${i}`,
      timestamp: new Date(began - i * 600_000 + 1).toISOString(),
      project,
      event_message: 'Login',
      metadata: { level: 'warning', user_id: 'agent 19' },
    }))
    const call = {
      id: 'call',
      timestamp: new Date(began - 45 * 60_000).toISOString(),
      how: 'http',
      endpoint: 'logs.all',
      status: 200,
      ms: 1,
    }
    const { queries, env } = withAppLogs(join(folder, 'app'), readdirSync('queries'))
    service = await startService({
      tables: {
        'cloudflare.logs.prod': rows,
        'gotrue.logs.prod': signIns,
        'app.logs': app,
        'service.requests': [call],
      },
      queries,
      env: { ...env, EXPLORER_DIR: join(folder, 'page') },
    })
  })

  afterAll(async () => {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  beforeEach(() => {
    page = tab.page
  })

  async function open(link = '', key = service.key, shown?: Locator): Promise<void> {
    await page.goto(`${service.url}/${link}`)
    await page.getByLabel('API key').fill(key)
    await page.getByLabel('API key').press('Enter')
    if (shown) return shown.waitFor()
    await page.getByRole('grid', { name: 'Log entries' }).waitFor()
    await counted(/rows/)
  }

  const counted = (text: RegExp) => page.locator('.logs-facts', { hasText: text }).waitFor()
  const rows = () => page.locator('.row:not(.head)')
  /** With its day and all its digits. */
  const timeOf = async (row: Locator) => (await row.locator('.cell-time').getAttribute('title'))!
  const topValue = (text: RegExp) => page.locator('.top-value', { hasText: text })

  /** In a menu that has a search. */
  async function choose(menu: string, text: string): Promise<void> {
    await page.getByRole('button', { name: `${menu}: ` }).click()
    await page.getByRole('searchbox', { name: `Find: ${menu}` }).fill(text)
    await page.getByRole('option', { name: text, exact: true }).click()
  }

  /** Opens what is not asked for first. @returns a button in it */
  async function inMore(name: string): Promise<Locator> {
    const button = page.locator('.popover').getByRole('button', { name, exact: true })
    if (!(await button.isVisible())) await page.getByRole('button', { name: 'More actions' }).click()
    return button
  }

  /** A button of a value in the entry, which shows while one points at the value. */
  async function press(name: string): Promise<void> {
    const button = page.getByRole('button', { name })
    await page.locator('.leaf').filter({ has: button }).first().hover()
    await button.first().click()
  }
  const plain = `#logs.all?project=${project}`

  test('the first view has data: the example’s project, the last hour, at least 15 rows at 1024 x 768', async () => {
    const refused: string[] = []
    const note = (response: Response) => response.status() >= 400 && refused.push(response.url())
    page.on('response', note)
    await open()
    await counted(/100 of 300 rows/)
    expect(refused).toEqual([])
    page.off('response', note)
    const inSight = await rows().evaluateAll(
      all =>
        all.filter(
          row => row.getBoundingClientRect().bottom < innerHeight && row.getBoundingClientRect().top > 0,
        ).length,
    )
    expect(inSight).toBeGreaterThanOrEqual(15)
    expect(page.url()).toBe(`${service.url}/${plain}`)
    const tables = page.getByLabel('Table', { exact: true })
    expect([await tables.locator('option').count(), await tables.inputValue()]).toEqual([10, 'edge_logs'])
    // Ten seconds apart: without a fraction, which is there where one points.
    expect(await rows().first().textContent()).toMatch(/\d\d:\d\d:\d\d500GET \| 500/)
    expect(await timeOf(rows().first())).toMatch(/^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}123$/)
    expect(await page.getByRole('columnheader').allTextContents()).toEqual([
      'Time (UTC) ↓',
      'Status',
      'Message',
    ])
    expect(await page.locator('.cell.severity-error').first().textContent()).toBe('500')
    const cut = await page
      .locator('.key > span, .parameter')
      .evaluateAll(all => all.filter(each => each.scrollWidth > each.clientWidth).map(each => each.outerHTML))
    expect(cut).toEqual([])
    await page.goto(`${service.url}/#nothing`)
    await page.getByText('There is no endpoint nothing for this key.').waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).toBe(0)
    await page.goto(`${service.url}/${plain}&.severity=error`)
    await counted(/^30 rows/)
    expect(await page.getByText('There is no endpoint').count()).toBe(0)
  })

  test('older rows load as one scrolls, each once, and leave a run that is on its way its turn', async () => {
    await open(plain)
    const held: Route[] = []
    await page.route('**/api/endpoints/query/**', route => void held.push(route))
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    const end = page.locator('.rows-end')
    await end.filter({ hasText: 'Rows are on their way' }).scrollIntoViewIfNeeded()
    await page.evaluate(() => new Promise(seen => requestAnimationFrame(() => setTimeout(seen, 50)))) // by its observer
    await page.unroute('**/api/endpoints/query/**')
    await Promise.all(held.map(route => route.continue().catch(() => {})))
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
    expect([held.length, await rows().count()]).toEqual([2, 100]) // its rows and its chart
    for (const count of [200, 300]) {
      await page.locator('.rows').evaluate(element => element.scrollTo(0, element.scrollHeight))
      await rows()
        .nth(count - 1)
        .waitFor({ state: 'attached' })
    }
    await page.getByText('All 300 rows of this range.').waitFor()
    const times = await page.locator('.row:not(.head) .cell-time').allTextContents()
    expect(new Set(times).size).toBe(300)
    expect(times).toEqual(times.toSorted().toReversed())
  })

  test('what is there first is shown, the chart or the rows, and what fails to come takes nothing away', async () => {
    let refused = false
    const saidBefore: (string | null)[] = []
    await page.route('**/api/endpoints/query/**', async route => {
      const { sql } = route.request().postDataJSON() as { sql: string }
      if (!/\sLIMIT 100$/.test(sql)) return route.continue()
      if (refused) return route.fulfill({ status: 503, json: { title: 'Busy', detail: 'Later.' } })
      await page.locator('.bars rect').first().waitFor()
      saidBefore.push(await page.locator('.logs-facts').textContent())
      await route.continue()
    })
    await open(plain)
    await counted(/^100 of 300 rows/)
    expect(saidBefore).toEqual(['Running …'])
    refused = true
    await page.locator('.rows').evaluate(element => element.scrollTo(0, element.scrollHeight))
    await page.getByText('Older rows could not be read: Later.').waitFor()
    expect(await rows().count()).toBe(100)
  })

  test('no rows take the counts of the run before away, and nothing is said of rows and bars that are not there', async () => {
    await open(plain)
    const held: Route[] = []
    await page.route('**/api/endpoints/query/**', route => {
      const { sql } = route.request().postDataJSON() as { sql: string }
      return /\sLIMIT 100$/.test(sql) ? route.continue() : void held.push(route)
    })
    const [search, legend] = [page.getByRole('searchbox', { name: 'Search' }), page.locator('.bars-legend')]
    await search.fill('nowhere')
    await search.press('Enter')
    await counted(/^0 rows/)
    expect([await legend.textContent(), await page.locator('.bars rect').count()]).toEqual(['', 0])
    await page.unroute('**/api/endpoints/query/**')
    await Promise.all(held.map(route => route.continue().catch(() => {})))
    await legend.filter({ hasText: 'per minute' }).waitFor()
    expect(await legend.textContent()).toBe('per minute')
    await page.route('**/api/endpoints/query/**', route => void held.push(route))
    await search.fill('not here')
    await search.press('Enter')
    await counted(/Running/)
    expect(await page.locator('.rows-end').textContent()).toBe('')
  })

  test('severity narrows, in the bar and in the legend, and Back and Forward walk through what was seen', async () => {
    await open(plain)
    await page.getByLabel('Severity').selectOption('5xx')
    await counted(/^30 rows/)
    await page.getByLabel('Time range').selectOption('Last 15 min')
    await page.waitForURL(/now-15m/)
    await counted(/^30 rows/)
    await page.goBack()
    expect(await page.getByLabel('Time range').inputValue()).toBe('now-1h')
    await counted(/^30 rows/)
    await page.goBack()
    await counted(/100 of 300/)
    expect(await page.getByLabel('Severity').inputValue()).toBe('')
    await page.goForward()
    await counted(/^30 rows/)
    expect(page.url()).toContain('.severity=error')
    await page.getByRole('button', { name: '5xx 30', pressed: true }).click()
    await counted(/100 of 300/)
    await page.getByRole('button', { name: '1xx to 3xx 270', pressed: false }).click()
    await counted(/100 of 270/)
    expect(page.url()).toContain('.severity=info')
    expect(await page.locator('.bars rect.bar-error').count()).toBe(0)
  })

  test('a row’s details filter for and out, make columns, and link to the row', async () => {
    await open(plain)
    await rows().nth(1).click()
    const details = page.getByRole('region', { name: 'Fields of the entry' })
    await details.getByText('/rest/v1/items/1', { exact: true }).first().waitFor()
    const link = page.url()
    const leaf = page.locator('.leaf', { hasText: /^method/ }) // with room for them
    await leaf.hover()
    const [line, acts] = [await leaf.boundingBox(), await leaf.locator('.leaf-acts').boundingBox()]
    const [end, room] = [acts!.y + acts!.height, line!.y + line!.height]
    expect([acts!.y >= line!.y, end <= room + 1, acts!.x + acts!.width <= line!.x + line!.width]).toEqual(
      Array.from({ length: 3 }, () => true),
    )
    const outside = page.locator('.leaf:has(.leaf-acts)').evaluateAll(
      leaves =>
        leaves.filter(each => {
          const [line, acts] = [each, each.querySelector('.leaf-acts')!].map(one =>
            one.getBoundingClientRect(),
          )
          return acts!.top < line!.top || acts!.bottom > line!.bottom || acts!.left < line!.left
        }).length,
    )
    await expect(outside).resolves.toBe(0) // no button covers another value
    const time = await page.locator('.leaf', { hasText: /^timestamp/ }).boundingBox()
    expect(time!.height).toBeLessThan(25) // one line, though its buttons have little room in it
    const find = page.getByLabel('Find in this entry')
    const found = () => details.locator('.leaf:visible .name').allTextContents()
    await find.fill('ITEMS/1') // a value
    expect(await found()).toEqual(['event_message', 'path', 'url'])
    await find.fill('metadata.response') // a path
    expect(await found()).toEqual(['headers', 'origin_time', 'status_code'])
    await find.fill('nowhere')
    await page.getByText('No field has it.').waitFor()
    await find.fill('')
    await press('Column of metadata.request.path')
    await page.getByRole('columnheader', { name: /^path/ }).waitFor()
    await rows().nth(1).click()
    await press('Filter for metadata.request.path')
    await counted(/of 100 rows|^100 rows/)
    await rows().first().click()
    const all = 'All entries with this value in all tables: metadata.request.path'
    await page.getByRole('button', { name: all }).waitFor({ state: 'attached' })
    await press('Filter out metadata.response.status_code')
    await counted(/^90 rows/)
    const [chips, chart, first] = [page.locator('.chips'), page.locator('.bars'), rows().first()]
    const places = async () => [await chart.boundingBox(), (await first.boundingBox())!.y]
    const before = await places()
    await page.getByRole('button', { name: /Remove the filter request.path/ }).click()
    await counted(/of 270 rows/)
    await page.getByRole('button', { name: /Remove the filter response.status_code/ }).click()
    await counted(/of 300 rows/)
    await chips.waitFor({ state: 'hidden' })
    expect(await places()).toEqual(before) // filters have a line that is there already
    expect(page.url()).toContain('.columns=')
    await page.getByRole('button', { name: 'Clear all' }).click()
    await page.getByRole('columnheader', { name: /^path/ }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Clear all' }).waitFor({ state: 'hidden' })
    expect(page.url()).toBe(`${service.url}/${plain}`)
    await page.goBack()
    await page.getByRole('columnheader', { name: /^path/ }).waitFor()
    const other = await tab.context.newPage()
    await other.goto(link)
    await other
      .getByRole('region', { name: 'Fields of the entry' })
      .getByText('/rest/v1/items/1')
      .first()
      .waitFor()
    await other.locator('.row[aria-selected=true]').waitFor()
  })

  test('patterns stand for the messages of a shape, say what is new, and filter for their entries or out', async () => {
    await open(plain)
    await page.getByRole('button', { name: 'Patterns' }).click()
    const lines = page.locator('.patterns tbody tr')
    await lines.first().waitFor()
    await page.getByRole('button', { name: 'Patterns 2, 2 new' }).waitFor()
    const said = async () => (await lines.allTextContents()).map(text => text.replaceAll(/\d\d-.*/g, ''))
    const shape = 'GET | <n> | <ip> | /rest/v1/items/<n>'
    expect(await said()).toEqual([`27090.0 %new1xx to 3xx ${shape}`, `3010.0 %new5xx ${shape}`])
    expect(page.url()).toContain('.list=patterns')
    await lines.nth(1).getByRole('button').first().click()
    await counted(/^30 rows/)
    expect(await rows().first().textContent()).toContain('500GET | 500')
    await page.goBack()
    await lines.first().waitFor()
    await page
      .getByRole('button', { name: `Filter out ${shape}` })
      .first()
      .click()
    await page.getByText('No entries.').waitFor()
    await page.getByRole('button', { name: /Remove the filter event_message !~/ }).click()
    await page.getByRole('button', { name: 'New only' }).click()
    await page.getByText('2 patterns of 300 entries, 2 not in the period before').waitFor()
    await page.getByRole('button', { name: 'Entries', exact: true }).click()
    await rows().first().waitFor()
  })

  test('what is shown is compared with the period before: in the chart, beside all, each kind and each value', async () => {
    const [from, to] = [began - 900_000, began + 1000].map(time => new Date(time).toISOString())
    await open(`${plain}&.from=${from}&.to=${to}`)
    await page.getByLabel('Compare with').selectOption('with the period before')
    await page.locator('.bars-legend > .change', { hasText: /^[+-]?\d %$/ }).waitFor()
    expect(await page.locator('.bars .before').getAttribute('d')).toMatch(/^M/)
    expect(page.url()).toContain('.compare=before')
    await page.locator('.key', { hasText: /5xx 30 \d\d.\d %.*new/ }).waitFor()
    await page.getByRole('button', { name: 'Fields', exact: true }).click()
    await page.locator('.field-name', { hasText: 'path' }).first().click()
    await topValue(/items\/1.*%[+-]?\d+ %\d\d:/).waitFor()
    await page.locator('.bars').hover({ position: { x: 300, y: 40 } })
    await page.getByText(/; before \d/).waitFor()
    await page.getByLabel('Time range').selectOption('All time')
    await page.getByText('nothing to compare with: the range has no beginning').waitFor()
  })

  test('the share of failures, or of a value, is shown over time and for each value of a field', async () => {
    await open(plain)
    await choose('Show in the chart', 'share of 5xx')
    await page.locator('.bars > .line').waitFor()
    await page.getByText('100 %').waitFor() // of the last minutes, at the axis
    await page.getByRole('button', { name: 'Fields', exact: true }).click()
    await page.locator('.field-name', { hasText: 'path' }).first().click()
    await topValue(/items\/1.*10 %100 rows/).waitFor()
    expect(page.url()).toContain('.measure=share%3Aerror')
    const share = page.getByRole('button', { name: 'Share of /rest/v1/items/2' })
    const isSeen = () => share.evaluate(button => button.checkVisibility({ opacityProperty: true }))
    expect(await isSeen()).toBe(false) // until one points at it, or comes by the keyboard
    await share.focus()
    expect(await isSeen()).toBe(true)
    await share.click()
    await page.getByRole('button', { name: 'Show in the chart: share of path = ' }).waitFor()
    await counted(/of 300 rows/)
    await page.getByRole('button', { name: 'Back to counts' }).click()
    await page.locator('.key', { hasText: /5xx 30 10.0 %/ }).waitFor()
  })

  test('a number field has its statistics, and a value when it was first and last there', async () => {
    await open(plain)
    await page.getByRole('button', { name: 'Fields', exact: true }).click()
    await page.locator('.field-name', { hasText: 'origin_time' }).first().click()
    const numbers = page.locator('.numbers dl > div')
    await numbers.first().waitFor()
    expect(await numbers.allTextContents()).toEqual([
      'min10 ms',
      'median10 ms',
      expect.stringMatching(/^p951,1[5-9]\d ms$/),
      'max1,199 ms',
      'average356.8 ms',
    ])
    await topValue(/^10200.*\d\d:\d\d:\d\d to (\d\d-\d\d )?\d\d:\d\d:\d\d$/).waitFor()
  })

  test('entries around a row are those without the filters', async () => {
    await open(`${plain}&.severity=error`)
    await counted(/^30 rows/)
    await rows().last().click()
    await page.getByRole('button', { name: 'Entries around' }).click()
    await page.getByText('without the search and the filters.').waitFor()
    await counted(/^6\d rows/) // of whole minutes
    await page.locator('.row[aria-selected=true]').waitFor()
    const next = page.locator('.row[aria-selected=true] + .row')
    expect(await next.textContent()).toContain('GET | 200')
    await page.getByRole('button', { name: 'Older' }).click()
    await page.locator('.row[aria-selected=true]', { hasText: 'GET | 200' }).waitFor()
    await page.getByRole('columnheader', { name: /Time/ }).getByRole('button').click() // the oldest first
    await counted(/^6\d rows/) // of whole minutes
    await rows().nth(2).click()
    const older = page.getByRole('button', { name: 'Older' })
    await older.evaluate((button: HTMLElement) => [1, 2].forEach(() => button.click())) // before the first is read
    await rows().nth(0).and(page.locator('[aria-selected=true]')).waitFor()
    expect(await older.isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Back to the filters' }).click()
    await counted(/^30 rows/)
    expect(page.url()).toContain('.severity=error')
  })

  test('the chart and the values of a field show what its menus say, one line for each value where it is measured', async () => {
    await open(plain)
    const show = page.getByRole('button', { name: 'Show in the chart: ' })
    const by = page.getByRole('button', { name: 'Split the chart by: ' })
    await page.getByRole('button', { name: 'Fields', exact: true }).click()
    await page.getByRole('button', { name: /^path/ }).first().click()
    await topValue(/items\/0 ?100/).waitFor()
    await choose('Split the chart by', 'class of status')
    await page.getByRole('button', { name: '5xx 30' }).waitFor()
    expect(page.url()).not.toContain('.by=')
    await choose('Show in the chart', 'average origin_time (ms)')
    await page.locator('.bars .line').waitFor()
    expect(await by.textContent()).toBe('nothing')
    await page.getByRole('button', { name: 'Back to counts' }).click()
    await page.getByRole('button', { name: '5xx 30' }).waitFor()
    await choose('Show in the chart', 'slowest paths')
    expect([await show.textContent(), await by.textContent()]).toEqual(['average origin_time (ms)', 'path'])
    await page.locator('.key', { hasText: /items\/2 [\d,.]+ ms$/ }).waitFor()
    await page.getByRole('button', { name: 'Back to counts' }).click()
    await page.getByRole('button', { name: '5xx 30' }).waitFor() // by severity, not by path
    await choose('Show in the chart', 'slowest paths')
    await choose('Show of each value', 'highest origin_time (ms)')
    await topValue(/items\/2 ?1,199 ms ?100 rows/).waitFor()
    const values = await page.locator('.top-value span').allTextContents()
    expect(values[0]).toBe('/rest/v1/items/2')
    await counted(/^100 of 300 rows/)
    const drawn = () =>
      Promise.all([page.locator('.bars .line').count(), page.locator('.most').first().textContent()])
    expect(await drawn()).toEqual([3, '1,000 ms'])
    expect(await page.locator('.bars-legend', { hasText: 'without' }).count()).toBe(0)
    await show.click()
    await page.getByRole('option', { name: 'number of rows' }).waitFor()
    expect(await page.getByRole('option', { name: /status_code|asn/ }).count()).toBe(0) // no amounts
    await page.keyboard.press('Escape')
    await page.locator('.key', { hasText: 'items/0' }).click() // as a class of status in the legend does
    await counted(/100 rows/)
    await page.locator('.key[aria-pressed=true]', { hasText: 'items/0' }).waitFor()
    expect(await drawn()).toEqual([1, '10 ms'])
    await page.locator('.key[aria-pressed=true]').click()
    await counted(/of 300 rows/)
    await page.locator('.top-value').first().click()
    await counted(/100 rows/)
    await page.getByRole('button', { name: /Remove the filter/ }).click()
    await choose('Split the chart by', 'method')
    await topValue(/GET ?1,199 ms/).waitFor()
    await choose('Show in the chart', 'number of rows')
    await topValue(/GET ?300/).waitFor()
    expect(page.url()).not.toContain('measure')
  })

  test('the histogram is narrowed with the pointer, and shows its unfinished bucket and its zeros', async () => {
    await open(`${plain}&.severity=error`)
    await counted(/^30 rows/)
    expect(await page.locator('.bars rect.bar-error').count()).toBeLessThan(8)
    const box = (await page.locator('.bars').boundingBox())!
    await page.mouse.move(box.x + box.width * 0.05, box.y + 30)
    await page.getByText(/: none$/).waitFor()
    await page.mouse.move(box.x + box.width * 0.93, box.y + 30)
    const said = (await page.locator('.bars-said').boundingBox())!
    const gap = (await page.locator('.brush').boundingBox())!.x - said.x - said.width
    expect([gap > 0, gap < 10, said.y + said.height <= box.y + box.height]).toEqual([true, true, true])
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.94, box.y + 30, { steps: 4 })
    await page.mouse.up()
    await page.waitForURL(/from=20\d\d-/)
    await counted(/^(\d|1\d|2\d) rows?/)
    expect((await page.locator('.bars').boundingBox())!.y).toBe(box.y)
    await page.getByLabel('Time range').selectOption('From … to …')
    const bound = (name: string) => page.getByLabel(name, { exact: true }).inputValue()
    expect([await bound('From'), await bound('To')]).toEqual(
      Array.from({ length: 2 }, () => expect.stringMatching(/^20\d\d-\d\d-\d\d \d\d:\d\d:00$/)),
    )
    const previous = page.getByRole('button', { name: 'Previous range' })
    await previous.click()
    await counted(/^30 rows/)
    expect([await page.getByLabel('Time range').inputValue(), await previous.isVisible()]).toEqual([
      'now-1h',
      false,
    ])
  })

  test('a bucket is stacked by severity, marked while it goes on, and says its day where days differ', async () => {
    await open(`${plain}&.from=now-52w`) // a bucket is a week
    await counted(/100 of 300/)
    const parts = page.locator('.bars rect.part')
    expect(await parts.count()).toBe(2)
    await page.locator('.bars-legend', { hasText: 'in part' }).waitFor()
    const [failed, passed] = await parts.evaluateAll(all =>
      all.map(each => ['x', 'y', 'height'].map(name => Number(each.getAttribute(name)))),
    )
    expect(passed![0]).toBe(failed![0])
    expect(passed![1]! + passed![2]!).toBeCloseTo(failed![1]!) // stacked
    await page.getByRole('group', { name: /per 7 days/ }).focus()
    await page.keyboard.press('ArrowLeft')
    await page.getByText(/7 days \(not finished\): 30 5xx, 270 1xx to 3xx/).waitFor()
    await page.getByLabel('Time range').selectOption('Last 7 days')
    await page.getByRole('group', { name: /per 3 hours/ }).waitFor()
    const labels = await page.locator('.bars text:not(.most)').allTextContents()
    expect(new Set(labels.map(label => /^\d+ \w{3}$/.exec(label)?.[0])).size).toBe(7)
  })

  test('a time that is shown is a bound that keeps its row', async () => {
    await open(plain)
    const time = await timeOf(rows().nth(4))
    await page.getByLabel('Time range').selectOption('From … to …')
    await page.getByLabel('From', { exact: true }).fill(time)
    await page.getByText('Not yet run').waitFor()
    await page.getByLabel('To', { exact: true }).fill('2020-01-01')
    await page.keyboard.press('Enter')
    await page.getByText('The end is not after the beginning.').waitFor()
    expect(page.url()).not.toContain('.to') // not run
    await page.getByLabel('To', { exact: true }).fill('now')
    await page.getByRole('searchbox').fill(' ') // as without blanks around it
    await page.keyboard.press('Enter')
    await counted(/^5 rows/)
    expect(await timeOf(rows().last())).toBe(time)
    await page.getByText('Not yet run').waitFor({ state: 'hidden' })
  })

  test('redaction takes the rows away first, with those on their way, and is in the link', async () => {
    await open(plain)
    let held: Route[] | null = []
    const go = (route: Route) => route.continue().catch(() => {}) // the page gave it up
    await page.route('**/api/endpoints/query/**', route => (held ? void held.push(route) : go(route)))
    const isOfRows = (request: Request) =>
      /\sLIMIT 100$/.test((request.postDataJSON() as { sql: string }).sql)
    const onTheirWay = async (count: number) => {
      while (held!.length < count) await sleep(10)
      return held!.splice(0)
    }
    const letGo = async () => {
      const routes = held!
      held = null
      await Promise.all(routes.map(go))
    }
    await rows().first().click()
    const [ofEntry] = await onTheirWay(1)
    await page.getByLabel('Redact').check()
    expect(await page.locator('.bars-legend').textContent()).toBe('')
    await go(ofEntry!) // before the redacted rows
    let seen = 0
    for (let i = 0; i < 20; i++) seen += await page.getByText('203.0.113.7').count()
    await letGo()
    while ((await page.getByText('REDACTED').count()) === 0)
      seen += await page.getByText('203.0.113.7').count()
    seen += await page.getByText('203.0.113.7').count()
    expect(seen).toBe(0)
    expect(page.url()).toContain('.redact=true')
    const entry = page.getByRole('region', { name: 'Fields of the entry' })
    await entry.getByText('REDACTED').first().waitFor() // the same one, read again
    expect(await entry.getByText('203.0.113.7').count()).toBe(0)
    // A newer state of the controls ends what is on its way, of the rows and of the chart.
    const ended: string[] = []
    const note = (request: Request) => {
      const { sql } = request.postDataJSON() as { sql: string }
      if (sql.includes("IN ('warning')")) ended.push(sql)
    }
    page.on('requestfailed', note)
    held = []
    await page.getByLabel('Severity').selectOption('4xx')
    await page.waitForURL(/severity=warning/)
    await onTheirWay(2)
    held = null
    await page.getByLabel('Severity').selectOption('5xx')
    await counted(/^30 rows/)
    page.off('requestfailed', note)
    expect([ended.length, ended.filter(sql => /\sLIMIT 100$/.test(sql)).length]).toEqual([2, 1])
    // A text that is written while rows are on their way is not what they answer; Enter runs it.
    held = []
    await page.getByLabel('Severity').selectOption('')
    await page.getByText('Rows are on their way; these are of the run before.').waitFor()
    await page.getByLabel('Search messages').fill('items/2')
    await letGo()
    await counted(/^100 /)
    expect(await page.locator('.stale').textContent()).toBe('Not yet run')
    held = []
    await page.getByLabel('Severity').selectOption('5xx')
    await page.getByLabel('Search messages').fill('items/1')
    await page.keyboard.press('Enter')
    await letGo()
    await counted(/^10 rows/)
    // The rows may be there before the chart, which is then still the old one, and can be stopped.
    const chart = page.locator('.histogram')
    held = []
    await page.getByLabel('Severity').selectOption('')
    const [ofRows, ofChart] = (await onTheirWay(2)).toSorted(
      (a, b) => Number(isOfRows(b.request())) - Number(isOfRows(a.request())),
    )
    await go(ofRows!)
    await counted(/^100 rows/)
    expect([await chart.getAttribute('class'), await page.locator('.primary').textContent()]).toEqual([
      'histogram old',
      'Stop',
    ])
    await go(ofChart!)
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
    expect(await chart.getAttribute('class')).toBe('histogram')
    held = null
    // What is redacted is no value: nothing filters by it.
    await page.goto(`${service.url}/${plain}&.redact=true&.by=metadata.request.headers.cf_connecting_ip`)
    await page.locator('span.key', { hasText: 'redacted 300' }).waitFor()
    await topValue(/REDACTED ?300/).waitFor({ state: 'attached' })
    expect(await page.locator('button.top-value').count()).toBe(0)
    await rows().first().click()
    await page
      .getByRole('button', { name: 'Filter for metadata.request.path' })
      .waitFor({ state: 'attached' })
    expect(await page.getByRole('button', { name: /^Filter for .*cf_connecting_ip/ }).count()).toBe(0)
    await page.getByRole('button', { name: 'Query and SQL' }).click()
    expect(await page.getByLabel('Redact personal data').isChecked()).toBe(true)
  })

  test('the range is picked, relative or absolute, in UTC or the device’s zone, and stays in the link as written', async () => {
    await open(`${plain}&.from=now-30m`)
    await counted(/^100 of 1[5-8]\d rows/)
    expect(page.url()).toContain('.from=now-30m')
    await (await inMore('Copy link to this period')).click()
    await page.locator('.popover', { hasText: 'Copied' }).waitFor()
    const exact = await page.evaluate(() => navigator.clipboard.readText())
    expect(decodeURIComponent(exact)).toMatch(/&\.from=20\d\d-\S+Z&\.to=20\d\d-\S+Z$/)
    const facts = await page.locator('.logs-facts').textContent()
    await page.goto(exact)
    await counted(new RegExp(`^${facts}`))
    await inMore('Copy link')
    expect(await page.getByText('Copy link to this period').isVisible()).toBe(false)
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      (await inMore('CSV of rows shown')).click(),
    ])
    const [head, newest, ...others] = readFileSync(await file.path(), 'utf8').split('\r\n')
    expect([file.suggestedFilename(), head, others.length]).toEqual([
      'edge_logs.csv',
      '\ufeffid,timestamp (UTC),severity,event_message',
      100,
    ])
    expect(newest).toMatch(/^entry-0000,20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3},500,GET \|/)
    await page.goto(`${service.url}/${plain}&.from=now-30m`)
    await counted(/^100 of/)
    const first = await timeOf(rows().first())
    const own = await page.evaluate(() => new Intl.DateTimeFormat().resolvedOptions().timeZone)
    await choose('Time zone', `This device: ${own} ${await page.evaluate(offset)}`)
    await page.getByRole('columnheader', { name: `Time (${own})` }).waitFor()
    expect(page.url()).toContain('.zone=local')
    const local = await timeOf(rows().first())
    const zone = await page.evaluate(() => new Date().getTimezoneOffset() * 60_000)
    expect(Date.parse(`${first}Z`) - Date.parse(`${local}Z`)).toBe(zone)
    await rows().first().click()
    expect(await page.locator('.tree time').first().textContent()).toBe(`${local} ${own}`)
    await page.keyboard.press('Escape')
    await page.getByLabel('Time range').selectOption('From … to …')
    const picker = page.locator('.custom .picker').first()
    const minutes = new Date(began - 600_000 - zone).toISOString().slice(0, 16)
    await picker.evaluate((input: HTMLInputElement, value) => {
      input.value = value
      input.dispatchEvent(new Event('change'))
    }, minutes)
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe(minutes)
    await page.getByText('Not yet run').waitFor()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.waitForURL(/from=20\d\d/)
    expect(decodeURIComponent(page.url())).toContain(
      `.from=${new Date(began - 600_000).toISOString().slice(0, 16)}`,
    )
    await counted(/^[67]\d rows/)
  })

  test('ranges in words are days of the zone that is found by its name, and buttons go to those beside', async () => {
    await open(plain)
    const range = page.getByLabel('Time range')
    const zone = page.getByRole('button', { name: 'Time zone: ' })
    const [earlier, later] = ['Earlier', 'Later'].map(name => page.getByRole('button', { name, exact: true }))
    const at = (from: string, to: string) =>
      page.waitForURL(({ hash }) => {
        const said = new URLSearchParams(hash.slice(hash.indexOf('?')))
        return said.get('.from') === from && (said.get('.to') ?? 'now') === to
      })
    await zone.press('Enter')
    await page.keyboard.insertText('calcutta')
    await page.keyboard.press('Enter')
    await page.getByRole('columnheader', { name: 'Time (Asia/Calcutta)' }).waitFor()
    expect(await zone.textContent()).toBe('Calcutta +05:30')
    expect(page.url()).toMatch(/\.zone=Asia(\/|%2F)Calcutta/)
    await page.locator('.bars text', { hasText: 'Asia/Calcutta' }).waitFor()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      (await inMore('CSV of rows shown')).click(),
    ])
    const [head, first] = readFileSync(await file.path(), 'utf8').split('\r\n')
    expect(head).toBe('\ufeffid,timestamp (Asia/Calcutta),severity,event_message')
    const shown = new Date(began - 5000 + 5.5 * 3_600_000).toISOString().replace('T', ' ').slice(0, 19)
    expect(first).toContain(`entry-0000,${shown}`)
    await range.selectOption('Yesterday')
    await at('now-1d/d', 'now-1d/d')
    const asked = page.waitForRequest(request => /LIMIT 100"/.test(request.postData() ?? ''))
    await earlier!.click()
    await at('now-2d/d', 'now-2d/d')
    const { sql } = (await asked).postDataJSON() as { sql: string }
    expect(sql.match(/18:30:00/g)).toHaveLength(2) // from midnight to midnight
    await later!.click()
    await later!.click()
    await at('now/d', 'now')
    expect([await range.inputValue(), await later!.isDisabled()]).toEqual(['now/d', true])
    await range.selectOption('From … to …')
    await page.getByLabel('From', { exact: true }).fill('soon')
    await page.keyboard.press('Enter')
    await page.getByText('today or yesterday, or now-1d/d for the whole day before.').waitFor()
    await page.getByLabel('From', { exact: true }).fill('last week')
    await page.keyboard.press('Enter')
    await at('now-1w/w', 'now')
  })

  test('columns, their widths and their sort, and which parts show, are kept; lines wrap; a value is copied', async () => {
    await open(`${plain}&.columns=metadata.response.origin_time`)
    await page
      .getByRole('columnheader', { name: /origin_time/ })
      .getByRole('button', { name: 'origin_time', exact: true })
      .click()
    await page.waitForURL(/sort=metadata.response.origin_time/)
    await rows().first().getByText('1199').waitFor()
    const grip = (await page.locator('.head .grip').first().boundingBox())!
    await page.mouse.move(grip.x + 3, grip.y + 5)
    await page.mouse.down()
    await page.mouse.move(grip.x + 63, grip.y + 5, { steps: 3 })
    await page.mouse.up()
    const width = () =>
      page.locator('.head .cell-time').evaluate(cell => Math.round(cell.getBoundingClientRect().width))
    const wide = await width()
    const last = (await page.locator('.head .grip').last().boundingBox())!
    await page.mouse.move(last.x + 3, last.y + 5)
    await page.mouse.down()
    await page.mouse.move(last.x - 57, last.y + 5, { steps: 3 })
    await page.mouse.up()
    const cross = (await page.locator('.head .remove').boundingBox())!
    expect(cross.x + cross.width).toBeLessThan(last.x + 6) // a long name gives way to it
    await page.getByRole('button', { name: 'Chart', exact: true }).click()
    await page.locator('.bars').waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Wrap' }).click()
    expect(
      await rows()
        .first()
        .locator('.cell-message')
        .evaluate(cell => getComputedStyle(cell).whiteSpace),
    ).toBe('pre-wrap')
    await page.getByRole('button', { name: 'Remove the column origin_time' }).click()
    await page.getByRole('columnheader', { name: /origin_time/ }).waitFor({ state: 'detached' })
    await rows().first().click()
    await press('Column of metadata.request.method')
    await page.reload()
    await page.getByRole('columnheader', { name: /method/ }).waitFor()
    expect([await width(), await page.locator('.bars').isVisible()]).toEqual([wide, false])
    await rows().first().click()
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText())
    await press('Copy metadata.request.path')
    await page.locator('.leaf-acts', { hasText: 'Copied' }).waitFor()
    expect(await clipboard()).toMatch(/^\/rest\/v1\/items\/\d$/)
    await page.getByRole('button', { name: 'Copy JSON' }).click()
    await page.locator('.entry-acts', { hasText: 'Copied' }).waitFor()
    await expect(clipboard().then(text => (JSON.parse(text) as { id: string }).id)).resolves.toMatch(
      /^entry-/,
    )
    await press('Values of metadata.request.path')
    await topValue(/items\/0 ?100/).waitFor()
  })

  test('the entry is made wider by pointer and keys, as this device keeps it, and the message keeps its room', async () => {
    await open(
      `${plain}&.columns=${['path', 'method', 'url', 'host'].map(name => `metadata.request.${name}`).join()}`,
    )
    const shares = () =>
      page.locator('.row.head .cell-message').evaluate(cell => {
        return cell.getBoundingClientRect().width / cell.closest('.rows')!.clientWidth
      })
    expect(await shares()).toBeGreaterThan(0.39)
    await rows().first().click()
    const [entry, divider] = [page.locator('.beside-rows'), page.getByRole('separator')]
    const width = async () => Math.round((await entry.boundingBox())!.width)
    const before = await width()
    await divider.press('ArrowLeft')
    await divider.press('ArrowLeft')
    expect(await width()).toBe(before + 64)
    const grip = (await divider.boundingBox())!
    await page.mouse.move(grip.x + 3, grip.y + 50)
    await page.mouse.down()
    await page.mouse.move(grip.x - 27, grip.y + 50, { steps: 3 })
    await page.mouse.up()
    expect(await width()).toBe(before + 94)
    expect(await shares()).toBeGreaterThan(0.39)
    await divider.press('End')
    expect([await width(), await divider.getAttribute('aria-valuenow')]).toEqual([320, '320'])
    await page.reload()
    await divider.waitFor()
    expect(await width()).toBe(320)
    await divider.dblclick()
    expect(await width()).toBe(before)
  })

  test('a table is shown as its definition says, and what is inside JSON is counted, filtered and a column', async () => {
    await open('#app')
    await counted(/^30 rows/)
    expect(await page.getByRole('columnheader').allTextContents()).toEqual([
      'Time (UTC) ↓',
      'Level',
      'Message',
    ])
    await page.locator('.bars rect.bar-error').first().waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Fields', exact: true }).click()
    expect(await page.locator('.field-name').first().textContent()).toBe('nameuser')
    await page.locator('.field-name', { hasText: 'code' }).last().click()
    await topValue(/200 ?28/).waitFor()
    await page.locator('.chart-line', { hasText: '200 28' }).waitFor()
    await page.locator('.field-name', { hasText: 'payload' }).last().click()
    await page.getByText('not by payload, which holds objects: choose a field in them').waitFor()
    await page.getByRole('button', { name: /user\.name ?30/ }).click()
    await topValue(/Ann ?10/).click()
    await counted(/^10 rows/)
    await rows().first().click()
    await press('Column of payload.user.sign-in')
    await page.getByRole('columnheader', { name: /sign_in/ }).waitFor()
    await rows().nth(1).click()
    await press('Filter for payload.tags[0]')
    await counted(/^5 rows/)
    expect(decodeURIComponent(page.url())).toContain('.where=payload.tags[0]="t1"')
    expect(await page.locator('.row:not(.head) .cell-value').allTextContents()).toEqual([
      '3',
      '9',
      '15',
      '21',
      '27',
    ])
  })

  test('what a query read is shown, and a fresh run and a choice of redaction are only there for keys that may', async () => {
    const asked: (string | undefined)[] = []
    await page.route('**/api/endpoints/query/**', async route => {
      asked.push((await route.request().allHeaders())['cache-control'])
      const response = await route.fetch()
      await route.fulfill({ response, headers: { ...response.headers(), 'x-bytes-read': '4100000' } })
    })
    await open('#app')
    await counted(/^30 rows/)
    await page.getByText('Cost', { exact: true }).click()
    await page.locator('.cost', { hasText: /[\d.]+ s, 4\.1 MB read/ }).waitFor()
    expect(new Set(asked)).not.toContain('no-cache, no-store')
    await (await inMore('Run fresh')).click()
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Change key' }).click()
    await open('#app', await service.issue({ redacted: true }))
    await counted(/^30 rows/)
    await inMore('Copy link')
    expect(await page.getByRole('button', { name: 'Run fresh' }).count()).toBe(0)
    await page.keyboard.press('Escape')
    // Its answers are redacted in any case.
    const redact = page.getByLabel('Redact')
    expect([await redact.isChecked(), await redact.isDisabled()]).toEqual([true, true])
  })

  test('on a phone the controls fold, the rows come first, and an entry covers the screen', async () => {
    await page.setViewportSize({ width: 375, height: 740 })
    await open(plain)
    await counted(/100 of 300/)
    expect(await page.getByLabel('Severity').isVisible()).toBe(false)
    await page.goto(`${service.url}/${plain}&.from=2026-01-01&.to=now`)
    await counted(/100 of 300/)
    expect(await page.getByLabel('From', { exact: true }).isVisible()).toBe(false)
    const range = page.getByLabel('Time range')
    expect([await range.isVisible(), await range.locator(':checked').textContent()]).toEqual([
      true,
      '01-01 00:00 to now',
    ])
    await page.goto(`${service.url}/${plain}`)
    await counted(/100 of 300/)
    const filters = page.getByRole('button', { name: 'Filters' })
    await filters.click()
    expect(await filters.getAttribute('aria-expanded')).toBe('true')
    await filters.click()
    await range.selectOption('From … to …') // unfolds them
    await page.getByLabel('From', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    expect(await filters.getAttribute('aria-expanded')).toBe('false')
    await counted(/100 of 300/)
    await page.getByRole('button', { name: 'Fields', exact: true }).click()
    await page.getByRole('button', { name: 'Close the fields' }).click()
    const fields = page.getByRole('complementary', { name: 'Fields' })
    await fields.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Fields', exact: true }).click()
    await page.keyboard.press('Escape')
    await fields.waitFor({ state: 'hidden' })
    expect((await rows().first().boundingBox())!.y).toBeLessThan(370)
    await page.setViewportSize({ width: 1280, height: 740 })
    await page.getByRole('button', { name: 'Fields', exact: true }).click()
    await page.setViewportSize({ width: 375, height: 740 })
    await fields.waitFor({ state: 'hidden' })
    await page.setViewportSize({ width: 1280, height: 740 })
    await fields.waitFor() // as they were
    await page.setViewportSize({ width: 375, height: 740 })
    await page.getByRole('button', { name: 'Filters' }).click()
    await page.getByLabel('Severity').selectOption('5xx')
    await counted(/^30 rows/)
    await rows().first().click()
    await page.getByRole('region', { name: 'Fields of the entry' }).waitFor()
    expect(await page.locator('.beside-rows').boundingBox()).toMatchObject({ x: 0, y: 0, width: 375 })
    expect(await faultsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Close the entry' }).click()
    await page.locator('.beside-rows').waitFor({ state: 'hidden' })
  })

  test('of more than a thousand rows only those near the window are drawn', async () => {
    let next = 0
    await page.route('**/api/endpoints/query/**', async route => {
      const { sql } = route.request().postDataJSON() as { sql: string }
      const ofRows = sql.includes('LIMIT 100') ? 100 : 0 // none for the chart
      const result = Array.from({ length: ofRows }, () => {
        const i = next++
        return { id: `r${i}`, timestamp: began * 1000 - i, severity: 200, event_message: `row ${i}` }
      })
      return route.fulfill({ json: { result, meta: { truncated: false, redacted: false } } })
    })
    await open(plain)
    await page.evaluate(async () => {
      const place = document.querySelector('.rows')!
      while (document.querySelectorAll('.row:not(.head)').length < 1500) {
        place.scrollTo(0, place.scrollHeight)
        await new Promise(resolve => setTimeout(resolve, 5))
      }
    })
    const drawn = await rows().evaluateAll(
      all => all.filter(row => row.checkVisibility({ contentVisibilityAuto: true })).length,
    )
    expect([await rows().count(), drawn < 500]).toEqual([1500, true])
  })

  test('a text that is not yet run goes along with what is pressed, without blanks around it', async () => {
    await open(plain)
    const search = page.getByRole('searchbox', { name: 'Search' })
    for (const [at, press] of [
      () => page.getByLabel('Severity').selectOption('5xx'),
      () => page.getByLabel('Table', { exact: true }).selectOption('*'),
      () => choose('Split the chart by', 'path'),
      () => page.getByRole('button', { name: 'Follow', exact: true }).click(),
    ].entries()) {
      await search.fill(` items/${at % 3} `)
      await press()
      await page.waitForURL(new RegExp(`search=items%2F${at % 3}(&|$)`))
      await counted(/rows/)
      expect(await search.inputValue()).toBe(`items/${at % 3}`)
      await page.goto(`${service.url}/${plain}`)
      await counted(/of 300 rows/)
    }
  })

  test('rows of the question before open nothing and do not leave the page', async () => {
    await open(plain)
    const leaving = ['Copy link', 'Copy link to this period', 'CSV of rows shown', 'JSON of rows shown']
    const areDisabled = async () => {
      await inMore('Copy link')
      const found = await Promise.all(leaving.map(async name => (await inMore(name)).isDisabled()))
      await page.keyboard.press('Escape')
      return found
    }
    const tryToOpen = async () => {
      const { x, y } = (await rows().nth(2).boundingBox())!
      await page.mouse.click(x + 300, y + 5)
      await page.locator('body').press('j')
      await page.locator('body').press('Enter')
      expect(await page.locator('.beside-rows').isVisible()).toBe(false)
      expect(page.url()).not.toContain('.row=')
    }
    const held: Route[] = []
    await page.route('**/api/endpoints/query/**', route => void held.push(route))
    await page.getByLabel('Severity').selectOption('5xx')
    expect(await areDisabled()).toEqual([true, true, true, true])
    await tryToOpen()
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    expect(await areDisabled()).toEqual([true, true, true, true])
    await tryToOpen()
    await page.unroute('**/api/endpoints/query/**')
    await Promise.all(held.map(route => route.abort().catch(() => {})))
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await counted(/^30 rows/)
    expect(await areDisabled()).toEqual([false, false, false, false])
    await page.getByRole('searchbox', { name: 'Search' }).fill('items')
    await page.getByText('Not yet run').waitFor()
    await page.locator('.logs-facts').click() // out of the field
    await tryToOpen()
  })

  test('the logs are as they were left after another endpoint, and its SQL is too', async () => {
    await open(`${plain}&.severity=error&.from=now-7d&.search=items`)
    await counted(/^30 rows/)
    const endpoints = page.getByRole('combobox', { name: 'Endpoint' })
    await endpoints.selectOption('service.usage')
    await page.locator('.chart .ground').waitFor()
    await endpoints.selectOption('logs.all')
    await counted(/^30 rows/)
    expect(page.url()).toContain(`${plain}&.from=now-7d&.search=items&.severity=error`)
    await endpoints.selectOption('service.usage')
    await page.getByRole('combobox', { name: 'Time' }).selectOption('-1h')
    await page.waitForURL(/start=-1h/)
    await endpoints.selectOption('logs.all') // at the time that was chosen there
    await page.waitForURL(url => url.hash === `${plain}&.search=items&.severity=error`)
    await page.goto(`${service.url}/${plain}&.view=query&sql=SELECT+1+AS+one`)
    await endpoints.selectOption('service.usage')
    await page.locator('.chart .ground').waitFor()
    await endpoints.selectOption('logs.all')
    await page.getByText('This link brings a query of its own.').waitFor()
    expect(page.url()).toContain('sql=SELECT+1+AS+one')
  })

  test('SQL of one’s own says what the form cuts from its tables, and runs without', async () => {
    const sql = 'SELECT COUNT(*) AS n FROM edge_logs'
    const start = new Date(began - 300_000).toISOString()
    await open(
      `${plain}&iso_timestamp_start=${start}&.view=query&sql=${encodeURIComponent(sql)}`,
      service.key,
      page.getByText('This link brings a query of its own.'),
    )
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText(`Your SQL sees only the entries within iso_timestamp_start ${start}`).waitFor()
    await page.getByRole('button', { name: 'Run for all time' }).click()
    await page.locator('.line', { hasText: '300' }).waitFor()
    expect(await page.getByText('Your SQL sees only').count()).toBe(0)
  })

  test('search by text, the SQL that it makes, and on in SQL', async () => {
    await open(plain)
    await page.keyboard.press('/')
    await page.keyboard.insertText('items/2')
    await page.keyboard.press('Enter')
    await counted(/^100 rows|of 100 rows/)
    expect(await page.locator('.empty-state').count()).toBe(0)
    await counted(/100 hits/)
    expect(new Set(await page.locator('.cell-message mark').allTextContents())).toEqual(new Set(['items/2']))
    await rows().first().click()
    await page
      .locator('.leaf', { hasText: /^event_message/ })
      .locator('mark', { hasText: 'items/2' })
      .waitFor()
    expect(await page.locator('.leaf mark').count()).toBe(1) // the search was in messages
    await page.keyboard.press('Escape')
    await page.getByRole('searchbox', { name: 'Search' }).fill('/GET|<b>/')
    await page.keyboard.press('Enter')
    await page.locator('.cell-message mark', { hasText: 'GET' }).first().waitFor()
    await page.goBack()
    await counted(/100 hits/)
    await page.getByText('SQL', { exact: true }).click()
    await page.getByText("CONTAINS_SUBSTR(t.event_message, 'items/2')").waitFor()
    await page.getByRole('button', { name: 'Continue in SQL' }).click()
    await page.getByText('This link brings a query of its own.').waitFor()
    await page.getByRole('button', { name: 'Logs', exact: true }).click() // as they were left
    await counted(/^100 rows|of 100 rows/)
    expect(await page.getByRole('searchbox', { name: 'Search' }).inputValue()).toBe('items/2')
    await page.goBack()
    await page.getByText('This link brings a query of its own.').waitFor()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('100 rows: the LIMIT, so there may be more.').waitFor()
    await page.goto(`${service.url}/#app?.view=query`)
    await page.getByText('5 rows: the LIMIT, so there may be more.').waitFor()
    const today = 'TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), DAY)'
    const days = `SELECT day, 1 AS n FROM UNNEST([${today}, TIMESTAMP_SUB(${today}, INTERVAL 1 DAY)]) AS day`
    await page.goto(`${service.url}/${plain}&.view=query&sql=${encodeURIComponent(days)}`)
    await page.getByText('This link brings a query of its own.').waitFor()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('The last bucket, shaded, is not finished.').waitFor()
    await page.getByText('Buckets by day; no line goes through so few.').waitFor()
    await page.getByRole('group', { name: /over time/ }).press('ArrowLeft') // today, which has its whole width
    expect(await page.evaluate(cursorPlace)).toBeCloseTo(0.5, 1)
  })

  test('all entries of a user are found by one value, in all fields of all tables, and read as those of one table', async () => {
    await open(`${plain}&.table=auth_logs`)
    await rows().first().click()
    await page.locator('.identities', { hasText: 'user_idagent 19' }).waitFor()
    await page.getByRole('button', { name: 'All entries with this value in all tables', exact: true }).click()
    await counted(/^17 rows/)
    const from = (table: string) => page.locator('.row .cell-table', { hasText: table }).count()
    expect([await from('edge_logs'), await from('auth_logs')]).toEqual([15, 2])
    await rows().nth(2).click() // above the first of auth_logs
    const around = page.getByRole('button', { name: 'Entries around' })
    await around.click()
    await counted(/^[67]\d rows/)
    expect(await page.locator('.neighbour').allTextContents()).toEqual([
      'after, same table',
      'before, same table',
    ])
    await page.getByRole('button', { name: 'Fields', exact: true }).click()
    await page.locator('.field-name', { hasText: 'table_name' }).click()
    await choose('Show in the chart', 'average origin_time (ms)')
    await topValue(/edge_logs ?[\d.]+ ms ?\d+ rows/).waitFor()
    expect(await page.locator('.top-value').count()).toBe(1) // auth_logs has no such number
    await page.locator('.bars-legend', { hasText: /\d rows? without origin_time/ }).waitFor()
    await page.goBack()
    await topValue(/auth_logs ?1/).click()
    await counted(/^1 row$/)
    await rows().first().click()
    await page.getByRole('region', { name: 'Fields of the entry' }).getByText('auth_logs').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await around.click()
    await counted(/^2 rows/) // of the table that was chosen
    expect(await page.locator('.neighbour').allTextContents()).toEqual(['before, same table'])
    await page.locator('.row[aria-selected=true]', { hasText: 'auth_logs' }).waitFor()
  })

  test('a search that finds little names the ways on, and another table the filters that it cannot have', async () => {
    await open(`${plain}&.search=items/2`)
    expect(await page.locator('.empty-state').count()).toBe(0)
    await page.goto(`${service.url}/${plain}&.search=agent 7&.from=${lately}`)
    await page.getByText('No message holds agent 7 in this range.').waitFor()
    await page.getByRole('button', { name: 'Look in all fields' }).click()
    await page.getByText('More rows may have it elsewhere').waitFor()
    await page.getByRole('button', { name: 'Look in all tables' }).click()
    await page.locator('.cell-table', { hasText: 'edge_logs' }).first().waitFor()
    await page.getByLabel('Search in').selectOption('in messages')
    await page.getByText('No message holds agent 7 in this range.').waitFor()
    const search = page.getByRole('searchbox', { name: 'Search' })
    await page.goto(`${service.url}/${plain}`)
    await search.fill('status_code:500')
    await search.press('Enter')
    await page.getByRole('button', { name: 'Filter status_code = 500' }).click()
    await counted(/^\d+ rows/)
    await page.getByRole('button', { name: 'Fields', exact: true }).click()
    await page
      .getByRole('complementary', { name: 'Fields' })
      .getByTitle('metadata.request.cf.country: STRING')
      .click()
    await page.locator('.key', { hasText: '(none)' }).waitFor()
    await topValue(/\(none\) ?\d+/).click()
    await page.getByRole('button', { name: 'Remove the filter cf.country = none' }).click()
    await choose('Split the chart by', 'class of status')
    const url = decodeURIComponent(page.url())
    expect([url.includes('.search'), url.includes('.where=metadata.response.status_code=500')]).toEqual([
      false,
      true,
    ])
    await page.goto(`${url}&.where=${encodeURIComponent('id!="x"')}`)
    await page.getByRole('button', { name: 'Remove the filter id != x' }).waitFor()
    await page.getByLabel('Table', { exact: true }).selectOption('auth_logs')
    await page.getByText('metadata.response.status_code is not in auth_logs: filter removed.').waitFor()
    expect(await page.locator('.chip').allTextContents()).toEqual(['id != x'])
    await page.goBack()
    await counted(/^\d+ rows/)
    expect(await page.getByText('filter removed').count()).toBe(0)
    await page.goto(`${service.url}/${plain}&.by=metadata.request.headers.user_agent`)
    await topValue(/\(none\) ?10\.3 %\d\d:/).waitFor() // behind the first ten
    expect(await page.locator('.top-value').count()).toBe(11)
    await page.getByTitle('More values').click()
    expect(await page.locator('.top-value').count()).toBe(21)
    await page.getByRole('button', { name: 'others 224' }).click() // but for those of the first five
    await counted(/of 224 rows/)
    const path = 'metadata.request.headers.user_agent'
    const six = Array.from(
      { length: 6 },
      (_, i) => `.where=${encodeURIComponent(`${path}="agent ${i + 1}"`)}`,
    )
    await page.goto(`${service.url}/${plain}&.by=${path}&${six.join('&')}`)
    await counted(/^90 rows|of 90 rows/)
    await page.locator('.key', { hasText: 'agent 6 15' }).waitFor() // one other has its name
    expect(await page.locator('.key', { hasText: /^agent \d 15 / }).count()).toBe(6)
    await page.locator('.key', { hasText: 'agent 6' }).click() // of the alternatives, this one
    await counted(/^15 rows/)
    await page.locator('.key[aria-pressed=true]', { hasText: 'agent 6' }).waitFor()
  })

  test('the logs and the usage take over each other’s time, and a single call stands at its place in it', async () => {
    await open(plain)
    const endpoints = page.getByRole('combobox', { name: 'Endpoint' })
    await endpoints.selectOption('service.usage')
    await page.locator('.usage .chart .ground').waitFor()
    expect(await page.getByRole('combobox', { name: 'Time' }).inputValue()).toBe('-1h')
    const chart = page.getByRole('group', { name: /over time/ })
    const said = page.locator('.chart [role=status]')
    // Minute by minute, with none before.
    for (let i = 0; i < 20 && !/logs.all 1/.test((await said.textContent())!); i++)
      await chart.press('ArrowRight')
    const since = (Date.now() - began) / 3_600_000 // of the hour that is shown, since the call
    expect(await page.evaluate(cursorPlace)).toBeCloseTo(0.22 - since, 1) // 45 minutes before that
    await endpoints.selectOption('logs.all')
    await counted(/100 of/)
    expect(await page.getByLabel('Time range').inputValue()).toBe('now-1h')
    expect(page.url()).not.toMatch(/[.](from|to)=/)
  })

  test('a chart of counts has all buckets of the range that is asked, those of the first and the last day in part', async () => {
    await open(
      `#usage.api-counts?interval=daily&project=${project}`,
      service.key,
      page.locator('.chart .ground'),
    )
    await page.getByText('The first bucket, shaded, is there in part: the range begins in it.').waitFor()
    await page.getByText('The last bucket, shaded, is not finished.').waitFor()
    const chart = page.getByRole('group', { name: /over time/ })
    for (const ago of [7, 6]) {
      await chart.press('ArrowRight')
      const day = new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
      await page
        .locator('.chart [role=status]', { hasText: `${day} 00:00:00 UTC: total_rest_requests 0,` })
        .waitFor({ state: 'attached' })
    }
  })

  test('can be used with the keyboard alone: j, k, Enter, Esc, ?', async () => {
    await open(plain)
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Fields of the entry' }).waitFor()
    await page.keyboard.press('j')
    await page.locator('.row[aria-selected=true]', { hasText: 'items/1' }).waitFor()
    await page
      .getByRole('region', { name: 'Fields of the entry' })
      .getByText('/rest/v1/items/1', { exact: true })
      .first()
      .waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('region', { name: 'Fields of the entry' }).waitFor({ state: 'hidden' })
    await page.keyboard.press('j') // on from the entry
    await page.locator('.row[aria-selected=true]', { hasText: 'items/2' }).waitFor()
    const by = page.getByRole('button', { name: 'Split the chart by: ' })
    await by.press('Enter')
    await page.keyboard.insertText('host')
    const found = await page.getByRole('listbox').getByRole('option').allTextContents()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\.by=/)
    expect([found.length > 1, await by.textContent()]).toEqual([true, found[1]])
    await by.press('Enter')
    await page.keyboard.press('Escape')
    await page.getByRole('listbox').waitFor({ state: 'detached' })
    expect(await by.evaluate(button => button === document.activeElement)).toBe(true)
    await page.locator('.logs-facts').click()
    await page.keyboard.press('?')
    const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await shortcuts.waitFor()
    await page.mouse.click(5, 300)
    await shortcuts.waitFor({ state: 'hidden' })
  })

  test('the key stays on the device where that is asked, and goes when it is changed', async () => {
    await page.goto(service.url)
    await page.getByLabel('API key').fill(service.key)
    await page.getByLabel('Remember on this device').check()
    await page.keyboard.press('Enter')
    await counted(/rows/)
    const other = await tab.context.newPage()
    await other.goto(service.url)
    await other.getByRole('grid', { name: 'Log entries' }).waitFor()
    await other.getByRole('button', { name: 'Change key' }).click()
    await Promise.all([other, page].map(each => each.getByLabel('API key').waitFor())) // which both have left
    expect(await other.evaluate(() => localStorage.getItem('lqe-key'))).toBeNull()
  })

  test.each([
    ['light', 375],
    ['dark', 1024],
    ['light', 1600],
  ] as const)('is accessible: %s, %d pixels wide', async (colorScheme, width) => {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 800 })
    await open(`${plain}&.from=${lately}&.by=metadata.request.path`) // axe looks at each row
    expect(await faultsOf(page)).toEqual([])
    await rows().first().click()
    await page.getByRole('region', { name: 'Fields of the entry' }).waitFor()
    expect(await faultsOf(page)).toEqual([])
    if (width !== 1024) return
    // The others: SQL, shortcuts, a range of one's own, no rows, a refusal.
    await page.getByRole('button', { name: 'Close the entry' }).click()
    await page.getByText('SQL', { exact: true }).click()
    await page.getByRole('button', { name: 'Shortcuts' }).click()
    expect(await faultsOf(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.goto(`${service.url}/${plain}&.from=2020-01-01&.to=2020-01-02&.search=x`)
    await page.getByText('No message holds x in this range').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.goto(`${service.url}/${plain}&.search=/(/`)
    await page.getByRole('alert').first().waitFor()
    expect(await faultsOf(page)).toEqual([])
  })

  // The last: its entry stays.
  test('follow adds new entries at the top and to the chart, takes those away that leave the range, says when it looked and what it read, and leaves all time as it is', async () => {
    await page.clock.install()
    // By the `Date` of an answer the page would take back the jumps of its clock.
    await page.route('**/api/**', async route => {
      const response = await route.fetch()
      const { date: _, ...headers } = response.headers()
      await route.fulfill({ response, headers: { ...headers, 'x-bytes-read': '4100000' } })
    })
    await open(`${plain}&.from=&.to=`)
    const follow = page.getByRole('button', { name: 'Follow' })
    await follow.click()
    await page.getByText('waiting for new rows').waitFor()
    await page.clock.fastForward(3000) // to its next look
    await page.getByText(/^looked at \d\d:\d\d:\d\d \S+: nothing new, [\d.]+ MB read$/).waitFor()
    expect(await page.getByLabel('Time range').inputValue()).toBe('')
    // From here on its clock goes by jumps alone, however long the machine takes.
    await page.clock.pauseAt(await page.evaluate(() => Date.now() + 100))
    await page.getByLabel('Time range').selectOption('Last 15 min') // in buckets of 15 seconds
    await page.getByRole('button', { name: '5xx 30' }).waitFor()
    expect(await page.getByText(/^looked at/).count()).toBe(0)
    await page.getByText('waiting for new rows').waitFor() // it goes on
    await page.getByRole('columnheader', { name: /Time/ }).getByRole('button').click()
    const ended = page.getByText(/^Following ended: .* the newest first\.$/)
    await ended.waitFor()
    await rows().first().click() // any next step
    await ended.waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    expect(await follow.textContent()).toBe('Follow to now')
    await follow.click()
    await page.getByText('waiting for new rows').waitFor()
    expect(await follow.textContent()).toBe('Following')
    await follow.click()
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
    const runs = () => page.getByRole('button', { name: 'Run', exact: true }).boundingBox()
    const [before, top] = [await runs(), (await page.locator('.logs-main').boundingBox())!.y]
    await follow.click()
    await page.getByText('waiting for new rows').waitFor()
    expect([await runs(), (await page.locator('.logs-main').boundingBox())!.y]).toEqual([before, top])
    const file = join(folder, 'new.ndjson')
    writeFileSync(file, `${JSON.stringify(webEntry(9999, Date.now(), 503))}\n`)
    const { DATA_DIR = '', TABLES_DIR } = service.env
    const { tablesDir: tablesFolder } = loadConfig({ DATA_DIR, TABLES_DIR })
    const logsFolder = join(DATA_DIR, 'logs')
    await loadLogs({ logsFolder, tablesFolder, table: 'cloudflare.logs.prod', files: [file], out: () => {} })
    await page.clock.fastForward(3000)
    await page.locator('.row.new', { hasText: 'GET | 503' }).waitFor()
    expect(await page.locator('.bars-legend').textContent()).toContain('not in the chart: 1 row')
    const list = page.locator('.rows')
    await list.evaluate(element => element.scrollTo(0, 200))
    await page.getByRole('button', { name: /^looked at .*: 1 new, .* MB read$/ }).click()
    expect(await list.evaluate(element => element.scrollTop)).toBe(0)
    await page.clock.fastForward(6000) // past a third of a bucket, and to its next look
    await page.getByRole('button', { name: '5xx 31' }).waitFor()
    await page.locator('.bars-legend', { hasText: 'not in the chart' }).waitFor({ state: 'detached' })
    const all = await rows().count()
    await page.clock.fastForward(120_000)
    await rows()
      .nth(all - 10)
      .waitFor({ state: 'detached' }) // the last 15 minutes begin two minutes later
    await counted(new RegExp(`^${await rows().count()} rows`))
  })
})
