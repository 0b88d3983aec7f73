/** A real browser for tests of the page. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

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
