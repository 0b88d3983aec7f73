/** The page on tokens and its recipe, as a new user tries them: the commands, the console's page in a browser, the end. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { edgeRow } from '../../functions/testing/edges.ts'
import { startService, type TestService } from '../../functions/testing/service.ts'
import { describeInChromium } from '../../functions/testing/tab.ts'
import { issuerIn } from '../../shared/keys/issuers.ts'

const document = readFileSync(join(import.meta.dirname, 'tokens.md'), 'utf8')
const recipe = readFileSync(join(import.meta.dirname, 'console/index.html'), 'utf8')
const [, commands = ''] = /```sh\n(.*?)```/s.exec(document)!
const mine = 'qhzvnxwtrkdplmcoyaeb'
let service: TestService
let pages: Server
let origin: string
let printed: string

/** In place of the addresses of the page, those of the test. */
const here = (text: string) =>
  text.replaceAll('http://localhost:8080', service.url).replaceAll('http://localhost:3000', origin)

const shell = (script: string) =>
  promisify(execFile)('bash', ['-euc', `npx() { shift; node infra/lqe/bin.cjs "$@"; }\n${script}`], {
    env: { ...process.env, DATA_DIR: service.env['DATA_DIR'] },
  })

beforeAll(async () => {
  pages = createServer((_, res) => res.setHeader('Content-Type', 'text/html').end(here(recipe)))
  await new Promise<void>(resolve => pages.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`
  const time = new Date().toISOString()
  service = await startService({
    tables: {
      'cloudflare.logs.prod': [mine, 'tsrqponmlkjihgfedcba'].map(ref =>
        edgeRow(ref, time, ref, '/rest/v1/a'),
      ),
    },
    env: { REMEMBER_MS: '1', CORS_ORIGIN: 'https://elsewhere.example.com' },
  })
  const { stdout, stderr } = await shell(`${here(commands)}\necho\necho "TOKEN=$TOKEN"`)
  printed = stdout + stderr
})

afterAll(async () => {
  await service.stop()
  pages.close()
})

const tokenOf = () => /^TOKEN=(.*)$/m.exec(printed)![1]!

test('the three commands answer with the rows of the token’s project', () => {
  expect(printed).toContain('Tokens of console are taken within 30 seconds.')
  expect(printed).toMatch(/"total_rest_requests":1[,}]/)
  expect(tokenOf().split('.')).toHaveLength(3)
})

test('the example of the setting is one', () => {
  const [, json = ''] = /```json\n(.*?)```/s.exec(document)!
  expect((JSON.parse(json) as unknown[]).map(each => issuerIn(each).name)).toEqual(['console'])
})

describeInChromium('the page of 30 lines', { width: 800, height: 600 }, tab => {
  test('shows a user the rows of the project, or a refusal in words', async () => {
    expect(recipe.trim().split('\n').length).toBeLessThanOrEqual(30)
    const { page } = tab
    await page.goto(origin)
    const show = async (token: string) => {
      await page.getByLabel('Token').fill(token)
      await page.getByRole('button').click()
      await page.waitForFunction('document.querySelector("p").textContent !== ""')
      const shown = await page.getByRole('status').textContent()
      await page.evaluate('document.querySelector("p").textContent = ""')
      return shown
    }
    expect(await show(tokenOf())).toBe('1 rows')
    expect(await page.locator('td').allTextContents()).toEqual([expect.any(String), '1', '0', '0', '0'])
    const { stdout } = await shell('npx lqe token --issuer console')
    expect(await show(stdout.trim())).toBe('The token is refused: app_metadata.project is missing.')
  })
})

test('a removed issuer’s tokens are refused', async () => {
  const ask = () =>
    service.fetch('/api/endpoints', { key: null, headers: { Authorization: `Bearer ${tokenOf()}` } })
  expect((await ask()).status).toBe(200)
  await shell('npx lqe issuer remove console')
  expect(await (await ask()).json()).toMatchObject({ status: 401, errors: [{ claim: 'iss' }] })
})
