/** What can be done by its name, from the keyboard alone, in a real Chromium. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { buildExplorer } from '../../infra/deploy/build-explorer.ts'
import { faultsOf } from '../testing/browser.ts'
import { startService, type TestService } from '../testing/service.ts'
import { describeInChromium } from '../testing/tab.ts'

describeInChromium('the list of all commands', { width: 1024, height: 768 }, tab => {
  const folder = mkdtempSync(join(tmpdir(), 'palette-'))
  let service: TestService

  beforeAll(async () => {
    await buildExplorer(join(folder, 'page'))
    service = await startService({ tables: {}, env: { EXPLORER_DIR: join(folder, 'page') } })
  })
  afterAll(async () => {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test('opens by Ctrl-K, finds by name, and does what is chosen', async () => {
    const { page } = tab
    const open = async (text: string) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog', { name: 'All commands' }).waitFor()
      await page.getByRole('listbox').waitFor()
      await page.keyboard.type(text)
    }
    await page.goto(`${service.url}/#logs.all?project=p`)
    await page.getByLabel('API key').fill(service.key)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'More actions' }).waitFor()
    await open('table auth_logs')
    expect(await faultsOf(page)).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByRole('listbox').waitFor({ state: 'hidden' })
    expect(page.url()).toContain('.table=auth_logs')
    await open('theme dark')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor()
    await open('endpoint service.usage')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Usage', level: 2 }).waitFor()
    await page.reload() // with the key of the tab, which is there at once
    await page.getByRole('heading', { name: 'Usage', level: 2 }).waitFor()
    await open('keyboard shortcuts')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Ctrl-K').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
  })
})
