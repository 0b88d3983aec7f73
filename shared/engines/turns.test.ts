import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { Deadline } from './deadline.ts'
import { Turns } from './turns.ts'

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

function ask(turns: Turns, owner: string): Run {
  const { promise, resolve } = Promise.withResolvers<void>()
  const giveUp = new AbortController()
  const deadline = new Deadline({ timeoutMs: Infinity, signal: giveUp.signal })
  const run: Run = { owner, begun: false, end: resolve, giveUp, done: Promise.resolve() }
  run.done = turns
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
      const turns = new Turns(atOnce)
      const waiting: Run[] = []
      const acting: Run[] = []
      const perOwner = Math.max(atOnce - 1, 1)
      const of = (owner: string, runs: Run[]) => runs.filter(run => run.owner === owner)
      const settle = async () => {
        await turn()
        for (const run of waiting.filter(({ begun }) => begun)) {
          // None with fewer places, nor an equal who came before, has been passed over.
          const places = of(run.owner, acting).length
          const before = waiting.slice(0, waiting.indexOf(run)).filter(({ begun }) => !begun)
          for (const other of before) expect(of(other.owner, acting).length).toBeGreaterThan(places)
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
        if (step < 10) waiting.push(ask(turns, String(owner)))
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
    const turns = new Turns(3)
    const begun: string[] = []
    const act = (owner: string) => turns.with(owner, never, async () => void begun.push(owner))
    const held = ['a', 'a', 'b'].map(owner => ask(turns, owner))
    const waiting = ['a', 'b', 'c'].map(act)
    held[0]!.end()
    await waiting[2]
    expect(begun[0]).toBe('c')
    for (const { end } of held) end()
    await Promise.all(waiting)
    expect(begun.toSorted()).toEqual(['a', 'b', 'c'])
  })

  test('release the place of an act that fails', async () => {
    const turns = new Turns(1)
    const failing = turns.with('a', never, () => Promise.reject(new Error('no')))
    await expect(failing).rejects.toThrow('no')
    expect(await turns.with('b', never, async () => 1)).toBe(1)
  })
})
