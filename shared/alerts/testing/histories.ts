/**
 * Random histories of two instances, kills, pauses, faults of the store, clocks and receivers over one store, against a plain
 * model: what is to be told, given what was found. A history is a function of its seed, but for the order in which the machine
 * carries out what happens at the same time.
 */
import { setImmediate as tick } from 'node:timers/promises'
import type { Alert, Endpoint } from '../../endpoints/definition.ts'
import type { Row } from '../../engines/engine.ts'
import { ApiError } from '../../errors.ts'
import { openSqlite } from '../../stores/sqlite/store.ts'
import { type Reference, type Store, StoreError, type Writing } from '../../stores/store.ts'
import { withFaults } from '../../stores/testing/faults.ts'
import { playSeeds, type Random, randomFrom, type Seeds } from '../../testing/histories.ts'
import { Budget } from '../../warm/turn.ts'
import type { Finding } from '../condition.ts'
import type { Deliver, Delivery } from '../deliver.ts'
import { DeliveryError, type Message } from '../channels.ts'
import { alertsCollection, recordAt } from '../record.ts'
import { type AlertServices, runAlerts } from '../run.ts'
import { type Evaluated, toldBy } from './model.ts'

export interface Counts {
  evaluations: number
  told: number
  deliveries: number
  kills: number
  pauses: number
  faults: number
  /** Messages that a channel refused for a day. */
  givenUp: number
}

/** Breaks something on purpose: what a process sees of the store, or how it delivers. */
export interface Mutant {
  store?(store: Store): Store
  deliver?(deliver: Deliver): Deliver
  appliedChannels?: Delivery['appliedChannels']
}

/**
 * Carries out histories by their seeds, each in a new store.
 * @throws Error that names the seed, for anything that the model does not allow
 */
export function playHistories(seeds: Seeds, mutant: Mutant = {}): Promise<Counts> {
  return playSeeds(seeds, async seed => {
    const history = new History(seed, mutant)
    await history.play()
    return history.counts
  })
}

const minuteMs = 60_000
const findings: Finding[] = ['calm', 'calm', 'calm', 'firing', 'firing', 'firing', 'no data', 'failing']

/** A process. One that is killed gets no answer any more; one that stands still goes on in another minute. */
interface Instance {
  services: AlertServices
  state: 'runs' | 'stands' | 'dead' | 'done'
  /** Whether it has stood still, so that its lease is another's. */
  isLate: boolean
  /** What it asked and has not written, by set. */
  asked: Map<string, Evaluated>
  /** Versions of documents as it has read them. */
  seen: Map<string, string>
}

class History {
  readonly counts: Counts = {
    evaluations: 0,
    told: 0,
    deliveries: 0,
    kills: 0,
    pauses: 0,
    faults: 0,
    givenUp: 0,
  }
  private readonly random: Random
  private readonly mutant: Mutant
  private readonly plain: Store
  private readonly endpoint: Endpoint
  private readonly alert: Alert
  private clock = Date.parse('2026-01-31T12:00:00Z')
  /** Of the clock of the machine that asks, which a store on a disk has. */
  private skew = 0
  private readonly truth = new Map<string, Finding>()
  /** What was found and stored, by set. */
  private readonly evaluated = new Map<string, Evaluated[]>()
  private readonly versions = new Map<string, string>()
  /** Who is between asking and the end of its run, in this minute. */
  private readonly busy = new Map<string, Instance>()
  /** Sets that two evaluated at once. */
  private readonly overlaps: string[] = []
  private readonly received: { channel: string; message: Message }[] = []
  /** A channel whose address is gone. */
  private dead: string | null = null
  /** How often the channels were applied. */
  private applied = 1
  /** By channel and id, what was tried, as `check` says it, and whether it was given up. */
  private readonly tried = new Map<string, { said: string; isGivenUp: boolean }>()
  /** Of 100 steps, how many kill, stand still or fail; of 100 deliveries, how many are refused. */
  private chances = { kill: 0, pause: 0, fault: 0, refuse: 0 }
  private resumes: (() => void)[] = []
  private isOver = false
  private readonly over = Promise.withResolvers<never>()

  constructor(seed: number, mutant: Mutant) {
    this.random = randomFrom(seed)
    this.mutant = mutant
    this.plain = openSqlite({ file: ':memory:', now: () => this.clock + this.skew })
    this.over.promise.catch(() => {})
    this.alert = {
      name: 'a',
      sets: [{ project: 'x' }, { project: 'y' }].slice(this.random(2)),
      condition: { value: 'n', above: 0 },
      everyMs: minuteMs,
      forMs: this.random(3) * 2 * minuteMs,
      repeatMs: this.random(2) === 0 ? null : 7 * minuteMs,
      severity: 'warning',
      text: '{{ n }} of {{ project }}',
      channels: ['first', 'second'].slice(this.random(2)),
      redact: true,
    }
    const endpoint = { id: 'e', name: 'e', cacheSeconds: 60, warm: null, alerts: [this.alert] }
    this.endpoint = endpoint as unknown as Endpoint
  }

  async play(): Promise<void> {
    const runs: Promise<void>[] = []
    try {
      const dies = this.random(4) === 0
      const minutes = 8 + this.random(dies ? 6 : 12) // fewer than an outbox holds
      const diesAt = dies ? this.random(minutes) : -1
      for (let minute = 0; minute < minutes; minute++) {
        await this.minute(runs)
        if (minute === diesAt) await this.dieForADay()
      }
      await this.endWell()
    } finally {
      this.isOver = true
      this.over.reject(new StoreError('unavailable', 'the history is over'))
      for (const resume of this.resumes) resume()
      await Promise.all(runs)
      await this.plain.close()
    }
    this.check()
  }

  private async minute(runs: Promise<void>[]): Promise<void> {
    this.pass(minuteMs - 5_000 + this.random(10_000))
    const isQuiet = this.random(2) === 0
    const upTo = (most: number) => (isQuiet ? 0 : this.random(most))
    this.chances = { kill: upTo(6), pause: upTo(6), fault: upTo(15), refuse: this.random(3) * 45 }
    if (this.random(2) === 0) this.resumes.shift()?.()
    const instances = Array.from({ length: 1 + this.random(2) }, () => this.start())
    for (const instance of instances) {
      runs.push(this.run(instance))
      for (let ticks = this.random(6); ticks > 0; ticks--) await tick()
    }
    while (instances.some(({ state }) => state === 'runs')) await tick()
  }

  private pass(ms: number): void {
    this.clock += ms
    this.skew = this.random(4_000) - 2_000
    this.busy.clear()
  }

  /** A channel takes nothing for more than a day, until another address is applied, or it comes back by itself. */
  private async dieForADay(): Promise<void> {
    this.chances = { kill: 0, pause: 0, fault: 0, refuse: 0 }
    this.dead = this.alert.channels[this.random(this.alert.channels.length)]!
    for (let round = 0; round < 4; round++) {
      this.pass(9 * 60 * minuteMs)
      await this.run(this.start())
    }
    this.dead = null
    if (this.random(3) === 0) return
    this.applied++
    for (const one of this.tried.values()) one.isGivenUp = false
  }

  /** Without faults everything is told in the end. */
  private async endWell(): Promise<void> {
    this.chances = { kill: 0, pause: 0, fault: 0, refuse: 0 }
    for (let round = 0; round < 4; round++) {
      this.pass(65 * minuteMs)
      await this.run(this.start())
    }
  }

  private async run(instance: Instance): Promise<void> {
    const budget = new Budget({ ms: 60_000, bytes: 1e12 })
    const report = await runAlerts(instance.services, this.endpoint, budget)
    const isSound = instance.state === 'runs' && report.error === null && !report.counts['failed']
    if (instance.state === 'runs') instance.state = 'done'
    // What it found and did not write has changed nothing, as it says.
    for (const [set, evaluation] of isSound ? instance.asked : []) {
      const id = this.idOf(set)
      if (instance.seen.get(id) === this.versions.get(id)) this.know(set, evaluation)
    }
  }

  private endTurn(instance: Instance): void {
    for (const [set, busy] of this.busy) if (busy === instance) this.busy.delete(set)
  }

  private knownOf(set: string): Evaluated[] {
    return this.evaluated.get(set) ?? []
  }

  private know(set: string, evaluation: Evaluated): void {
    this.evaluated.set(set, [...this.knownOf(set), evaluation])
    this.counts.evaluations++
  }

  private start(): Instance {
    const instance: Instance = {
      state: 'runs',
      isLate: false,
      asked: new Map(),
      seen: new Map(),
      services: {} as AlertServices,
    }
    const step = () => this.step(instance)
    const store = withFaults(this.noted(instance), { before: step, after: step })
    const deliver: Deliver = (channel, message) => this.deliver(instance, channel, message)
    instance.services = {
      store: this.mutant.store?.(store) ?? store,
      deliver: this.mutant.deliver?.(deliver) ?? deliver,
      appliedChannels: this.mutant.appliedChannels ?? (async () => String(this.applied)),
      log: (severity, _, { channel, id } = {}) => {
        if (severity !== 'ERROR') return
        this.counts.givenUp++
        this.tried.get([channel, id].join(' '))!.isGivenUp = true
      },
      ask: ({ set }, now) => this.ask(instance, String(set['project']), now),
      prepare: () => this.step(instance, false),
    }
    return instance
  }

  /** Between any two steps a process may die, or stand still for minutes; a call of the store may fail. */
  private async step(instance: Instance, mayFail = true): Promise<void> {
    if (this.random(3) === 0) await tick()
    if (instance.state === 'dead' || this.isOver) return this.over.promise
    const { kill, pause, fault } = this.chances
    if (this.random(100) < kill) {
      instance.state = 'dead'
      this.counts.kills++
      return this.over.promise
    }
    if (this.random(100) < pause) {
      this.counts.pauses++
      Object.assign(instance, { state: 'stands', isLate: true })
      await new Promise<void>(resolve => this.resumes.push(resolve))
      if (this.isOver) return this.over.promise
      instance.state = 'runs'
    }
    if (mayFail && this.random(100) < fault) {
      this.counts.faults++
      throw new StoreError('unavailable', 'a fault of the history')
    }
  }

  private async ask(instance: Instance, set: string, now: number): Promise<Row[]> {
    const other = this.busy.get(set)
    if (other && other !== instance && other.state === 'runs' && !other.isLate && !instance.isLate)
      this.overlaps.push(set)
    this.busy.set(set, instance)
    const minute = `${set} ${Math.floor(now / minuteMs)}`
    const finding = this.truth.get(minute) ?? findings[this.random(findings.length)]!
    this.truth.set(minute, finding)
    instance.asked.set(set, { now, finding })
    await this.step(instance, false)
    if (finding === 'failing') throw new ApiError('engine_error', 'of the history')
    return [{ n: { calm: 0, firing: 7, 'no data': null }[finding] }]
  }

  private noted(instance: Instance): Store {
    const { plain, versions } = this
    const written = ({ id }: Reference, { version }: Writing): Writing => {
      versions.set(id, version)
      instance.seen.set(id, version)
      // The first write after it asked stores what it found.
      const set = [...instance.asked.keys()].find(set => this.idOf(set) === id)
      if (set !== undefined) this.know(set, instance.asked.get(set)!)
      if (set !== undefined) instance.asked.delete(set)
      return { version, writtenAt: this.clock }
    }
    return {
      ...plain,
      async get(at, fields) {
        const reading = await plain.get(at, fields)
        if (reading.document) instance.seen.set(at.id, reading.document.version)
        return reading
      },
      create: async (at, fields) => {
        const writing = await plain.create(at, fields)
        return at.collection === alertsCollection ? written(at, writing) : writing
      },
      update: (at, change, version) => {
        if (change.unset?.includes('lease')) this.endTurn(instance)
        return plain.update(at, change, version)
      },
      replace: async (at, fields, version) => written(at, await plain.replace(at, fields, version)),
    }
  }

  private idOf(project: string): string {
    return recordAt({ endpoint: this.endpoint, alert: this.alert, set: { project } }).id
  }

  /** A receiver may fail before it takes a message, and after. */
  private async deliver(instance: Instance, channel: string, message: Message): Promise<void> {
    const began = this.clock
    await this.step(instance, false)
    const key = `${channel} ${message.id}`
    this.tried.set(key, this.tried.get(key) ?? { said: `${message.state} ${message.at}`, isGivenUp: false })
    const fails = () => channel === this.dead || this.random(100) < this.chances.refuse
    const later = () => new DeliveryError('of the history', this.random(2) * 90_000)
    // A try has ten seconds: one that stood still while its message was given up reaches nobody.
    if (fails() || this.clock - began > 60 * minuteMs) throw later()
    this.received.push({ channel, message })
    this.counts.deliveries++
    await this.step(instance, false)
    if (fails()) throw later()
  }

  /**
   * Each channel has got what the model says, at least once, in order, each under one id, and nothing else, but for what it was
   * not given before it came back by itself.
   */
  private check(): void {
    if (this.overlaps.length > 0) throw new Error(`two at once evaluated ${this.overlaps.join(', ')}`)
    for (const { project } of this.alert.sets as { project: string }[]) {
      const told = toldBy({ ...this.alert, marginMs: minuteMs / 5 }, this.knownOf(project))
      if (told.some(({ at }, n) => at <= (told[n - 1]?.at ?? 0)))
        throw new Error(`times of ${project} go back`)
      const expected = told.map(({ state, at }) => `${state} ${new Date(at).toISOString()}`)
      this.counts.told += expected.length
      for (const channel of this.alert.channels) {
        const messages = this.received
          .filter(one => one.channel === channel && one.message.parameters['project'] === project)
          .map(({ message }) => message)
        const first = [...new Map(messages.toReversed().map(one => [one.id, one])).values()]
        const inOrder = first.toSorted((a, b) => messages.indexOf(a) - messages.indexOf(b))
        const got = inOrder.map(({ state, at }) => `${state} ${at}`)
        const givenUp = [...this.tried].flatMap(([key, { said, isGivenUp }]) =>
          isGivenUp && key.startsWith(channel) ? said : [],
        )
        const due = expected.filter(one => got.includes(one) || !givenUp.includes(one))
        if (JSON.stringify(got) !== JSON.stringify(due))
          throw new Error(`${channel} of ${project} got ${got.join(', ')}; it is ${due.join(', ')}`)
      }
    }
  }
}
