/** A tab of a real browser for the tests of a suite. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from '@jest/globals'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { Random } from '../../shared/sandbox/testing/random.ts'
import { chromiumPath, launch } from './browser.ts'
import { slowDown } from './slow.ts'

/** `SLOW_PAGE=7`: in a slow page of a slow service, by that seed. */
const seed = Number(process.env['SLOW_PAGE'] ?? 0)

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
      tab.context.setDefaultTimeout(100_000) // below Jest's, so that the error says what it waited for
      await tab.context.grantPermissions(['clipboard-read', 'clipboard-write'])
      tab.context.on('weberror', error => tab.wrong.push(error.error().message))
      tab.context.on('console', message => {
        const refused = message.text().startsWith('Failed to load resource') // the browser's own line for a 4xx
        if (message.type() === 'error' && !refused) tab.wrong.push(message.text())
      })
      tab.page = await tab.context.newPage()
      if (seed > 0)
        await slowDown(tab.context, new Random(seed), { slower: 4 + (seed % 12), late: 800, wrong: 0 })
    })
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
