/** A real browser, for tests of the page and for pictures of it. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'

/**
 * Path of a Chromium; `undefined` where there is none, and tests that need one are skipped. Debian's headless shell is the same
 * engine without windows: the tests of the page take a third less of the processor in it.
 */
export const chromiumPath = [
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find(path => existsSync(path))

/** Without its sandbox, which does not start as root in a container, and without its own calls to other hosts. */
export async function launch(executablePath: string): Promise<Browser> {
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync']
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', ...quiet]
  return chromium.launch({ executablePath, args })
}

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** What axe finds inaccessible on a page as it is, and whether the page is wider than its window. */
export async function faultsOf(page: Page): Promise<unknown[]> {
  if (await page.evaluate('!globalThis.axe')) await page.evaluate(readFileSync(axe, 'utf8'))
  // What passes is a hundred times as much, and Playwright takes seconds to bring it here.
  const found = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)`
  const violations = (await page.evaluate(found)) as AxeResults['violations']
  const wide = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
  return [
    ...violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
    ...(wide ? ['too wide'] : []),
  ]
}
