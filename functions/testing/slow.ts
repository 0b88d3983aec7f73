/** A slow machine and a slow service for the page, by a seed: faults that only a loaded machine shows otherwise. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { BrowserContext, Page, Route } from 'playwright-core'
import { Random } from '../../shared/sandbox/testing/random.ts'

/** How many of so many answers go wrong: none comes, it is cut, or it is a 503. */
const wrongAnswers: ((route: Route) => Promise<void>)[] = [
  route => route.abort('connectionreset'),
  async route => {
    const response = await route.fetch()
    const text = await response.text()
    await route.fulfill({ response, body: text.slice(0, text.length / 2) })
  },
  route => route.fulfill({ status: 503, json: { title: 'Busy', detail: 'Later.' } }),
]

interface Trouble {
  /** By how much the page's processor is slower. */
  slower: number
  /** The longest that an answer is late, in milliseconds; each by another time, so that they come in another order. */
  late: number
  /** One of so many answers goes wrong; 0 = none. */
  wrong: number
}

/**
 * A route turns the browser's cache off, and Chromium then asks for `no-cache`: to the service that is a forced run, and an
 * answer would never come from its cache. `max-age=0` is what a call of the page says without a route.
 */
async function goOn(route: Route): Promise<void> {
  await route.continue({ headers: { 'cache-control': 'max-age=0', ...route.request().headers() } })
}

/** From now on, for all tabs; `trouble` may change while it goes on. Routes of a test go before it. */
export async function slowDown(context: BrowserContext, random: Random, trouble: Trouble): Promise<void> {
  const slow = async (page: Page) => {
    const session = await context.newCDPSession(page)
    await session.send('Emulation.setCPUThrottlingRate', { rate: trouble.slower })
  }
  context.on('page', page => void slow(page).catch(() => {})) // it may be closed already
  await Promise.all(context.pages().map(slow))
  await context.route('**/api/**', async route => {
    const isWrong = trouble.wrong > 0 && random.oneIn(trouble.wrong)
    const act = isWrong ? random.pick(wrongAnswers) : goOn
    await sleep(random.below(trouble.late + 1))
    await act(route).catch(() => {}) // the page gave it up
  })
}
