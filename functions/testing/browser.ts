/** A real browser for tests of the page. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from '@jest/globals'
import type { AxeResults } from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

/** Path of a Chromium; `undefined` where there is none, and tests that need one are skipped. */
export const chromiumPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  path => existsSync(path),
)

/** Without its sandbox, which does not start as root in a container, and without its own calls to other hosts. */
export async function launch(executablePath: string): Promise<Browser> {
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync']
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', ...quiet]
  return chromium.launch({ executablePath, args })
}

export interface Tab {
  page: Page
  context: BrowserContext
  /** Errors in the console of this and other tabs: no test may leave any. */
  wrong: string[]
}

/**
 * A suite in a tab of Chromium. All its tests have the same, as a new one starts processes and compiles the page again. Each
 * begins with it empty: at no page, in a window of this size, without storage, routes or other tabs.
 */
export function describeInChromium(
  title: string,
  window: { width: number; height: number },
  suite: (tab: Tab) => void,
): void {
  if (!chromiumPath) process.stderr.write(`SKIPPED: ${title}: there is no Chromium here\n`)
  const inChromium = chromiumPath ? describe : describe.skip
  inChromium(title, () => {
    let browser: Browser
    const tab = { wrong: [] as string[] } as Tab

    beforeAll(async () => {
      browser = await launch(chromiumPath!)
      tab.context = await browser.newContext({ viewport: window })
      await tab.context.grantPermissions(['clipboard-read', 'clipboard-write'])
      tab.context.on('weberror', error => tab.wrong.push(error.error().message))
      tab.context.on('console', message => {
        const refused = message.text().startsWith('Failed to load resource') // the browser's own line for a 4xx
        if (message.type() === 'error' && !refused) tab.wrong.push(message.text())
      })
      tab.page = await tab.context.newPage()
    }, 60_000)
    afterAll(() => browser.close())

    beforeEach(() => void tab.wrong.splice(0))
    afterEach(async () => {
      const { page, context } = tab
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      for (const each of context.pages()) {
        if (each.url() !== 'about:blank')
          await each.evaluate(() => [localStorage, sessionStorage].forEach(storage => storage.clear()))
        await (each === page ? page.goto('about:blank') : each.close())
      }
      await page.emulateMedia({ colorScheme: null })
      await page.setViewportSize(window)
      expect(tab.wrong).toEqual([])
    })

    suite(tab)
  })
}

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** What axe finds inaccessible on a page as it is, and whether the page is wider than its window. */
export async function faultsOf(page: Page): Promise<unknown[]> {
  await page.evaluate(readFileSync(axe, 'utf8'))
  // What passes is a hundred times as much, and Playwright takes seconds to bring it here.
  const found = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)`
  const violations = (await page.evaluate(found)) as AxeResults['violations']
  const wide = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
  return [
    ...violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
    ...(wide ? ['too wide'] : []),
  ]
}
