/** `node infra/docs/pictures.ts`: draws the README's pictures of the explorer, from sample logs of its own. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { start } from '../local/process.ts'
import { chromiumPath, launch } from '../../functions/testing/browser.ts'

const folder = join(import.meta.dirname, 'pictures')

if (!chromiumPath) throw new Error('There is no Chromium on this machine.')
mkdirSync(folder, { recursive: true })
const dataDir = mkdtempSync(join(tmpdir(), 'pictures-'))
const { child: service } = await start({ args: ['infra/lqe.ts', 'start'], env: { DATA_DIR: dataDir } })
const ended = new Promise(resolve => service.once('exit', resolve))
const browser = await launch(chromiumPath)
try {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } })
  const { link, key } = await greeting()
  await page.goto(link)
  await page.getByLabel('API key').fill(key)
  await page.keyboard.press('Enter')
  await chart(page)
  await logs(page)
} finally {
  await browser.close()
  service.kill('SIGTERM')
  await ended
  rmSync(dataDir, { recursive: true, force: true })
}

async function greeting(): Promise<{ link: string; key: string }> {
  let printed = ''
  service.stdout!.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  for (;;) {
    const [, key] = /API key: (lqe_\w+)/.exec(printed) ?? []
    const [link] = /http:\S+#\S+/.exec(printed) ?? []
    if (key && link) return { link, key }
    if (service.exitCode !== null) throw new Error(`The service did not start: ${printed}`)
    await sleep(100)
  }
}

/** The usage chart, with the values of one day. */
async function chart(page: Page): Promise<void> {
  const plot = await page.locator('.chart .ground').boundingBox()
  if (!plot) throw new Error('There is no chart.')
  await page.mouse.move(plot.x + plot.width * 0.6, plot.y + plot.height / 2)
  await take(page, 'chart.png')
}

/** The newest logs, one of them open. */
async function logs(page: Page): Promise<void> {
  await page.getByLabel('Endpoint', { exact: true }).selectOption('logs.all')
  await page.locator('.row:not(.head)').nth(1).click()
  await page.getByRole('region', { name: 'Fields of the entry' }).waitFor()
  await take(page, 'logs.png')
}

async function take(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(300) // for the hover to be drawn
  await page.screenshot({ path: join(folder, name) })
}
