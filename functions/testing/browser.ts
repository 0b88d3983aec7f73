/** A real browser for tests of the page. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** Where a Chromium is; `undefined` = nowhere, and tests that need one are skipped. */
export const chromiumPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  path => existsSync(path),
)

/** Without a sandbox, as root in a container, and without its own calls to other hosts. */
export async function launch(executablePath: string): Promise<Browser> {
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync']
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', ...quiet]
  return chromium.launch({ executablePath, args })
}
