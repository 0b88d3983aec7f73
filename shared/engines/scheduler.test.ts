import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { Deadline } from './deadline.ts'
import { Scheduler } from './scheduler.ts'

const never = new Deadline({ timeoutMs: Infinity })

/** What the owners do: 0 to 9 ask for a place, more end the longest act of an owner or give up its oldest wait. */
const steps = fc.array(
  fc.record({ owner: fc.integer({ min: 0, max: 4 }), step: fc.integer({ min: 0, max: 19 }) }),
  {
    maxLength: 120,
  },
)

interface Run {
  owner: string
  begun: boolean
  end: () => void
  giveUp: AbortController
  done: Promise<unknown>
}

function ask(scheduler: Scheduler, owner: string): Run {
  const { promise, resolve } = Promise.withResolvers<void>()
  const giveUp = new AbortController()
  const deadline = new Deadline({ timeoutMs: Infinity, signal: giveUp.signal })
  const run: Run = { owner, begun: false, end: resolve, giveUp, done: Promise.resolve() }
  run.done = scheduler
    .with(owner, deadline, async () => {
      run.begun = true
      await promise
    })
    .catch(() => {})
  return run
}

describe('turns', () => {
  test('keep a place from the owner who has all others, leave none empty that one may have, and serve all', async () => {
    const holds = fc.asyncProperty(fc.integer({ min: 1, max: 4 }), steps, async (atOnce, taken) => {
      const scheduler = new Scheduler(atOnce)
      const waiting: Run[] = []
      const acting: Run[] = []
      const perOwner = Math.max(atOnce - 1, 1)
      const of = (owner: string, runs: Run[]) => runs.filter(run => run.owner === owner)
      const settle = async () => {
        await turn()
        for (const run of waiting.filter(({ begun }) => begun)) {
          // None with fewer places has been passed over, nor one of the same owner who came before.
          const places = of(run.owner, acting).length
          const others = waiting.filter(({ begun }) => !begun)
          const allowed = others.filter(({ owner }) => of(owner, acting).length < perOwner)
          for (const other of allowed) expect(of(other.owner, acting).length).toBeGreaterThanOrEqual(places)
          expect(of(run.owner, waiting)[0]).toBe(run)
          waiting.splice(waiting.indexOf(run), 1)
          acting.push(run)
        }
        expect(acting.length).toBeLessThanOrEqual(atOnce)
        for (const { owner } of acting) expect(of(owner, acting).length).toBeLessThanOrEqual(perOwner)
        if (acting.length < atOnce)
          for (const { owner } of waiting) expect(of(owner, acting).length).toBe(perOwner)
      }
      const end = async (run: Run) => {
        acting.splice(acting.indexOf(run), 1)
        run.end()
        await settle()
      }
      for (const { owner, step } of taken) {
        const [oldest, first] = [of(String(owner), waiting)[0], of(String(owner), acting)[0]]
        if (step < 10) waiting.push(ask(scheduler, String(owner)))
        else if (step < 18 && first) await end(first)
        else if (step >= 18 && oldest) {
          waiting.splice(waiting.indexOf(oldest), 1)
          oldest.giveUp.abort()
        }
        await settle()
      }
      while (acting.length > 0) await end(acting[0]!)
      expect(waiting).toEqual([])
    })
    await fc.assert(holds, { numRuns: 300 })
  })

  test('give the place that becomes free to the owner with the fewest, though others have waited longer', async () => {
    const scheduler = new Scheduler(3)
    const begun: string[] = []
    const act = (owner: string) => scheduler.with(owner, never, async () => void begun.push(owner))
    const held = ['a', 'a', 'b'].map(owner => ask(scheduler, owner))
    const waiting = ['a', 'b', 'c'].map(act)
    held[0]!.end()
    await waiting[2]
    expect(begun[0]).toBe('c')
    for (const { end } of held) end()
    await Promise.all(waiting)
    expect(begun.toSorted()).toEqual(['a', 'b', 'c'])
  })

  test('release the place of an act that fails', async () => {
    const scheduler = new Scheduler(1)
    const failing = scheduler.with('a', never, () => Promise.reject(new Error('no')))
    await expect(failing).rejects.toThrow('no')
    expect(await scheduler.with('b', never, async () => 1)).toBe(1)
  })

  test('serve owners with as many places in turn, also where one sends more', async () => {
    const scheduler = new Scheduler(1)
    const begun: string[] = []
    const act = (owner: string) => scheduler.with(owner, never, async () => void begun.push(owner))
    const held = ask(scheduler, 'a')
    const waiting = ['a', 'a', 'a', 'b', 'b', 'c'].map(act)
    held.end()
    await Promise.all(waiting)
    expect(begun).toEqual(['b', 'c', 'a', 'b', 'a', 'a'])
  })

  test('stop no act that cannot be repeated', async () => {
    const scheduler = new Scheduler(2)
    let calls = 0
    const slow = (owner: string) => scheduler.with(owner, never, async () => (await sleep(700), ++calls))
    const slowOnes = ['a', 'b'].map(slow)
    await scheduler.with('c', never, async () => expect(calls).toBe(1))
    await Promise.all(slowOnes)
    expect(calls).toBe(2)
  })
})

describe('turns of acts that can be repeated', () => {
  /** Acts for `ms` milliseconds or until the end of its turn, as a query does. */
  const acts =
    (ms: number, begin: () => void = () => {}) =>
    async (deadline: Deadline) => {
      begin()
      await deadline.sleep(ms)
      return ms
    }

  test('a short act waits for moments of twenty owners, not for their acts', async () => {
    const scheduler = new Scheduler(3, { repeatable: true })
    const leave = new AbortController()
    const until = new Deadline({ timeoutMs: Infinity, signal: leave.signal })
    const owners = Array.from({ length: 20 }, (_, at) => String(at))
    const long = owners.map(owner => scheduler.with(owner, until, acts(60_000)))
    const waits: number[] = []
    for (let n = 0; n < 5; n++) {
      const started = performance.now()
      await scheduler.with('short', never, acts(5))
      waits.push(performance.now() - started)
    }
    leave.abort()
    for (const run of long) await expect(run).rejects.toMatchObject({ reason: 'cancelled' })
    expect(Math.max(...waits)).toBeLessThan(20_000)
    // Those that were stopped once give way at once.
    expect(Math.min(...waits)).toBeLessThan(200)
  })

  test('all come to their end, though they give way to each other, and two are never stopped', async () => {
    const scheduler = new Scheduler(3, { repeatable: true })
    const calls: Record<string, number> = {}
    const run = (owner: string) =>
      scheduler.with(
        owner,
        never,
        acts(400, () => (calls[owner] = (calls[owner] ?? 0) + 1)),
      )
    const owners = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    expect(await Promise.all(owners.map(run))).toEqual(owners.map(() => 400))
    expect(calls).toMatchObject({ a: 1, b: 1 })
    expect(Math.max(...Object.values(calls))).toBeGreaterThan(1)
  })

  test('an act that is stopped and has its result nonetheless keeps it', async () => {
    const scheduler = new Scheduler(2, { repeatable: true })
    let calls = 0
    const deaf = () => scheduler.with('b', never, async () => (await sleep(700), ++calls))
    const lasting = ask(scheduler, 'a')
    const runs = [deaf(), scheduler.with('c', never, async () => 'c')]
    expect(await Promise.all(runs)).toEqual([1, 'c'])
    lasting.end()
  })

  test("an act's own error and its own deadline are not mistaken for a stop", async () => {
    const scheduler = new Scheduler(2, { repeatable: true })
    const failing = scheduler.with('a', never, () => Promise.reject(new Error('no')))
    await expect(failing).rejects.toThrow('no')
    const late = scheduler.with('a', new Deadline({ timeoutMs: 20 }), acts(1000))
    await expect(late).rejects.toMatchObject({ reason: 'timeout' })
  })
})

describe('an act whose time is over', () => {
  const timeout = (timeoutMs: number) => new Deadline({ timeoutMs })

  test('is told that others had all places where it never got one, and not that it took too long', async () => {
    const scheduler = new Scheduler(1)
    const other = ask(scheduler, 'a')
    await expect(scheduler.with('b', timeout(20), async () => {})).rejects.toMatchObject({
      reason: 'overloaded',
    })
    other.end()
  })

  test('took too long where it acted beside others in their time', async () => {
    const scheduler = new Scheduler(3)
    const other = ask(scheduler, 'a')
    const act = () => sleep(50).then(() => Promise.reject(new Error('interrupted')))
    await expect(scheduler.with('b', timeout(20), act)).rejects.toMatchObject({ reason: 'timeout' })
    other.end()
  })
})
