/**
 * Ten thousand rows in a real Chromium, loaded by scrolling: how long tasks and frames take, printed. Scripts scroll, in the
 * main thread; a wheel, which the compositor follows, waits for less.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, jest, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { buildExplorer } from '../../../infra/deploy/build-explorer.ts'
import { edgeRow } from '../../testing/edges.ts'
import { startService } from '../../testing/service.ts'
import { describeInChromium } from '../../testing/tab.ts'

const project = 'qhzvnxwtrkdplmcoyaeb' // the example of the parameter
const many = 10_000

jest.setTimeout(600_000)

/** What the page does between `begin` and `end`: its frames, and tasks of more than 50 ms, in milliseconds. */
interface Measured {
  frames: number[]
  tasks: number[]
}

/** In the page: notes frames and long tasks, and scrolls by so many pixels a frame from the top to the bottom. */
async function scrolled(perFrame: number): Promise<Measured> {
  const place = document.querySelector('.rows')!
  const [frames, tasks]: [number[], number[]] = [[], []]
  const observer = new PerformanceObserver(list =>
    tasks.push(...list.getEntries().map(task => task.duration)),
  )
  observer.observe({ entryTypes: ['longtask'] })
  const frame = () => new Promise<number>(resolve => requestAnimationFrame(resolve))
  place.scrollTo(0, 0)
  let before = await frame()
  while (place.scrollTop + place.clientHeight < place.scrollHeight - 1) {
    place.scrollBy(0, perFrame)
    const at = await frame()
    frames.push(at - before)
    before = at
  }
  await new Promise(resolve => setTimeout(resolve, 200))
  observer.disconnect()
  return { frames, tasks }
}

/** In the page: milliseconds until the frame after what was done is drawn; what it asks of the service may come later. */
async function untilDrawn(act: string): Promise<number> {
  const began = performance.now()
  if (act === 'a row is pressed') document.querySelectorAll<HTMLElement>('.row:not(.head)')[5000]!.click()
  else if (act === 'j') document.dispatchEvent(new KeyboardEvent('keydown', { key: 'j' }))
  else
    for (const button of document.querySelectorAll('button')) if (button.textContent === act) button.click()
  await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve, 0)))
  return performance.now() - began
}

describeInChromium('ten thousand rows in Chromium', { width: 1600, height: 900 }, tab => {
  test('are loaded by scrolling, each once, and few are drawn', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'explorer-'))
    await buildExplorer(folder)
    const began = Date.now()
    const rows = Array.from({ length: many }, (_, i) => {
      const path = `/rest/v1/items/${i % 40}`
      const row = edgeRow(`entry-${i}`, new Date(began - 1000 - i * 300).toISOString(), project, path)
      // Wrapped, up to four lines.
      return { ...row, event_message: `${row.event_message} ${path.repeat((i * 7) % 40)}` }
    })
    const env = { EXPLORER_DIR: folder }
    const service = await startService({ tables: { 'cloudflare.logs.prod': rows }, env })
    try {
      const { page } = tab
      await page.goto(`${service.url}/#logs.all?project=${project}&.from=now-6h`)
      await page.getByLabel('API key').fill(service.key)
      await page.keyboard.press('Enter')
      await page.locator('.logs-facts', { hasText: /of 10,000 rows/ }).waitFor()
      const loading = await loadAll(page)
      const times = await page.locator('.row:not(.head) .cell-time').allTextContents()
      expect([times.length, new Set(times).size]).toEqual([many, many])
      expect(times).toEqual(times.toSorted().toReversed())
      const drawn = await page
        .locator('.row:not(.head)')
        .evaluateAll(all => all.filter(row => row.checkVisibility({ contentVisibilityAuto: true })).length)
      expect(drawn).toBeLessThan(500)
      print(`loading ${many} rows by scrolling: ${loading.seconds.toFixed(1)} s, ${said(loading)}`)
      for (const perFrame of [120, 1000, 10_000]) print(await scrolling(page, perFrame))
      const entry = page.getByRole('region', { name: 'Fields of the entry' })
      for (const act of ['Wrap', 'Wrap', 'Fields', 'Fields', 'a row is pressed', 'j']) {
        print(`${act}: drawn after ${Math.round(await page.evaluate(untilDrawn, act))} ms`)
        if (act === 'a row is pressed') await entry.waitFor() // which is not of the next act
      }
      await page.keyboard.press('Escape') // the same width as before
      await entry.waitFor({ state: 'hidden' })
      await page.getByRole('button', { name: 'Wrap' }).click()
      print(`wrapped, ${await scrolling(page, 1000)}`)
    } finally {
      await service.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

async function loadAll(page: Page): Promise<Measured & { seconds: number }> {
  return page.evaluate(async wanted => {
    const place = document.querySelector('.rows')!
    const tasks: number[] = []
    const observer = new PerformanceObserver(list =>
      tasks.push(...list.getEntries().map(task => task.duration)),
    )
    observer.observe({ entryTypes: ['longtask'] })
    const began = performance.now()
    while (document.querySelectorAll('.row:not(.head)').length < wanted) {
      place.scrollTo(0, place.scrollHeight)
      await new Promise(resolve => setTimeout(resolve, 20))
    }
    return { frames: [], tasks, seconds: (performance.now() - began) / 1000 }
  }, many)
}

/** Frames wait for a busy machine; the main thread's own CPU time does not. */
async function scrolling(page: Page, perFrame: number): Promise<string> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const busy = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1000
  }
  const before = await busy()
  const measured = await page.evaluate(scrolled, perFrame)
  const cpu = ((await busy()) - before) / measured.frames.length
  await session.detach()
  return `scrolling by ${perFrame} pixels a frame: ${cpu.toFixed(1)} ms of CPU a frame, ${said(measured)}`
}

function said({ frames, tasks }: Measured): string {
  const sorted = frames.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1)
  const over = frames.filter(ms => ms > 50).length
  const ofFrames = `${frames.length} frames, ms p50 ${at(0.5)}, p95 ${at(0.95)}, highest ${at(1)}, ${over} over 50; `
  const longest = tasks.length === 0 ? '' : `, the longest ${Math.round(Math.max(...tasks))} ms`
  return `${frames.length === 0 ? '' : ofFrames}${tasks.length} tasks over 50 ms${longest}`
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
