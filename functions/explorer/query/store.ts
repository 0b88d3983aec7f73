/**
 * The one truth of the form: what it asks, and what came back with its question. Whatever else is on the screen is computed of
 * these, so that it cannot be of another question.
 */
import { batch, computed, type Signal, signal } from '@preact/signals'
import type { Problem } from '../../../shared/errors.ts'
import { type Link, writeLink } from '../address.ts'
import { rowsWatched, type Watched } from '../alerts.ts'
import type { Savable } from '../logs/as-endpoint.ts'
import { takeLatest } from '../resource.ts'
import { isZone, type Zone } from '../logs/zone.ts'
import {
  type Answer,
  type Endpoint,
  type Opening,
  type Parameter,
  parametersOf,
  type Query,
  runQuery,
  type ServiceError,
} from '../service.ts'
import { countOf } from './answer.ts'

export interface QueryOpening extends Opening {
  /** Whether the endpoint has another view, so that the address has to say that this is the form. */
  hasView: boolean
  /** Whether what the link asks has run here: Back, Forward and a reload run it again. A link that is sent has not. */
  hasRun: boolean
}

/** What came back: rows, or why there are none, with the question that it answers. */
export type Outcome = { query: Query; link: string } & ({ answer: Answer } | { error: ServiceError })

/** Always the same, so that nothing is drawn again. */
const none: Problem[] = []

/** Up to now. */
export const quickRanges = [
  ['-15m', 'Last 15 min'],
  ['-1h', 'Last hour'],
  ['-1d', 'Last 24 hours'],
  ['-7d', 'Last 7 days'],
  ['', 'All time'],
] as const

export const redactionHeader = 'svc-endpoint-redact-pii'

export class QueryStore {
  readonly key: string
  readonly endpoint: Endpoint
  /** Texts of the fields as they are written, also of parameters that are not declared: the service says which it ignores. */
  readonly values: Signal<Record<string, string>>
  readonly redact: Signal<boolean>
  /** The caller's own SQL, and whether it is what runs. */
  readonly text: Signal<string>
  readonly isOwn: Signal<boolean>
  readonly outcome = signal<Outcome | null>(null)
  /** `idle`: nothing was asked yet; `stopped`: by a person. */
  readonly phase = signal<'idle' | 'running' | 'stopped' | 'settled'>('idle')
  readonly isIdle = computed(() => this.phase.value === 'idle')
  readonly isRunning = computed(() => this.phase.value === 'running')
  /** On a phone the controls fold once there are results. */
  readonly isFolded = signal(false)
  /** Of the link: required parameters that it does not have, and values that its parameter does not take. */
  readonly missing: Parameter[]
  readonly #unfit: Record<string, string>
  readonly zone: Zone
  readonly #opening: QueryOpening
  readonly #asking = takeLatest()
  #isFirst = true

  constructor(opening: QueryOpening) {
    const { key, endpoint, link } = opening
    this.#opening = opening
    this.key = key
    this.endpoint = endpoint
    const initial = initialValues(endpoint, link.values)
    this.values = signal({ ...initial, ...link.values, ...initial }) // in the order of the parameters
    this.#unfit = unfitValues(endpoint, link.values)
    this.redact = signal(viewOf(link, 'redact') ? viewOf(link, 'redact') === 'true' : endpoint.redact)
    this.isOwn = signal(endpoint.sandbox && link.sql !== null)
    this.text = signal(link.sql ?? '')
    this.zone = link.view.findLast(([name, value]) => name === 'zone' && isZone(value))?.[1] ?? 'UTC'
    this.missing = endpoint.parameters.filter(({ name, required }) => required && !this.values.value[name])
    // A link with SQL that did not run here waits for a press: following it must not make its reader pay for a scan.
    if (this.missing.length === 0 && (!link.sql || opening.hasRun)) void this.run()
  }

  /** What the controls ask for now. */
  readonly query = computed((): Query => {
    const values = Object.entries(this.values.value).map(([name, text]) => [name, text.trim()] as const)
    const sql = this.isOwn.value ? this.text.value : null
    return { endpoint: this.endpoint, values: Object.fromEntries(values), sql, redact: this.redact.value }
  })

  /** Whether what came back answers what is asked now. */
  readonly isCurrent = computed(
    () => this.outcome.value !== null && isSame(this.outcome.value.query, this.query.value),
  )
  readonly isOld = computed(
    () => this.outcome.value !== null && (!this.isCurrent.value || this.phase.value !== 'settled'),
  )

  readonly status = computed((): string => {
    const outcome = this.outcome.value
    if (this.isRunning.value) return 'Running …'
    if (outcome && !this.isCurrent.value) return 'Not yet run.'
    if (this.phase.value === 'stopped') return 'Stopped.'
    return outcome && 'answer' in outcome ? countOf(outcome.query, outcome.answer) : ''
  })

  /** Of the last run, where it failed. */
  readonly problems = computed((): Problem[] => {
    const outcome = this.outcome.value
    return outcome && 'error' in outcome ? (outcome.error.problem.errors ?? none) : none
  })
  /** Those that stand beside no field. */
  readonly otherProblems = computed(() =>
    this.problems.value.filter(problem => !this.#isOfField(nameIn(problem))),
  )
  /** Those with a place in the SQL, as long as that is the text that ran. */
  readonly sqlProblems = computed(() => {
    const isOfText = this.outcome.value?.query.sql === this.text.value && !this.isRunning.value
    return isOfText ? this.otherProblems.value.filter(({ line }) => line !== undefined) : none
  })

  /** What is wrong with a field, as long as its value is the one that was refused; empty where nothing is. */
  problemOf(name: string): string {
    const { [name]: value = '' } = this.values.value
    const unfit = this.#unfit[name]
    if (unfit !== undefined) return `there is no ${name} ${unfit}`
    const query = this.outcome.value?.query
    const isAsked =
      name === redactionHeader ? query?.redact === this.redact.value : query?.values[name] === value.trim()
    if (!isAsked || this.isRunning.value) return ''
    const own = this.problems.value.filter(problem => nameIn(problem) === name)
    return own.map(({ detail }) => detail).join('; ')
  }

  /** The field to be put right first, once an answer has said so. */
  readonly firstWrong = computed(() => {
    const names = [...this.endpoint.parameters.map(({ name }) => name), redactionHeader]
    return names.find(name => this.problems.value.some(problem => nameIn(problem) === name))
  })

  write(name: string, text: string): void {
    delete this.#unfit[name]
    this.values.value = { ...this.values.value, [name]: text }
  }

  setMode(mode: string): void {
    this.isOwn.value = mode === 'own'
    this.isFolded.value = false
  }

  setRedact(on: boolean): void {
    this.redact.value = on
    // What may show too much goes first, then what may be seen comes.
    this.outcome.value = null
    void this.run()
  }

  /** Runs a range up to now, or without bounds. @param from empty for no bound */
  runFrom(from: string): void {
    const { start, end } = parametersOf(this.endpoint)
    batch(() => {
      if (start) this.write(start, from)
      if (end) this.write(end, '')
    })
    void this.run()
  }

  readonly stop = (): void => this.#asking.stop()

  /** A run ends the one before. @param fresh past the cache */
  readonly run = ({ fresh = false } = {}): Promise<void> => {
    const query = this.query.peek()
    const link = this.#linkTo(query)
    this.#opening.remember(link, !this.#isFirst)
    this.#isFirst = false
    const asked = { query, link: writeLink(link) }
    const settle = (outcome: Partial<{ answer: Answer; error: ServiceError }>) =>
      batch(() => {
        this.phase.value = 'settled'
        this.outcome.value = { ...asked, ...outcome } as Outcome
        // Else they are being written in, or have a problem.
        this.isFolded.value = 'answer' in outcome && this.isCurrent.value
      })
    this.phase.value = 'running'
    return this.#asking(
      async signal => settle({ answer: await runQuery(this.key, query, signal, fresh) }),
      error => (error === 'stopped' ? void (this.phase.value = 'stopped') : settle({ error })),
    )
  }

  /** What is asked, also where it has not run. */
  link(): Link {
    return this.#linkTo(this.query.peek())
  }

  /** The caller's own SQL, which can be an endpoint. */
  savable(): Savable[] {
    const { values, sql, redact } = this.query.peek()
    return sql === null ? [] : [{ title: 'SQL', about: '', made: { sql, values, redact, parameters: {} } }]
  }

  /** The rows of the endpoint, or of the caller's own SQL. */
  watched(): Watched[] {
    const { values } = this.query.peek()
    const [own] = this.savable()
    return [rowsWatched(this.endpoint, values, own?.made ?? null)]
  }

  #isOfField(name: string): boolean {
    return name === redactionHeader || this.endpoint.parameters.some(parameter => parameter.name === name)
  }

  #linkTo({ values, sql, redact }: Query): Link {
    const { hasView, link } = this.#opening
    const view: Link['view'] = [
      ...(hasView ? [['view', 'query'] as [string, string]] : []),
      ...link.view.filter(([name]) => name === 'zone'), // as the other view has it
      ...(redact === this.endpoint.redact ? [] : [['redact', String(redact)] as [string, string]]),
    ]
    return { endpoint: this.endpoint.name, values, sql, view }
  }
}

function viewOf({ view }: Link, name: string): string | undefined {
  return view.find(([own]) => own === name)?.[1]
}

function nameIn({ parameter, header }: Problem): string {
  return parameter ?? header?.toLowerCase() ?? ''
}

function isSame(a: Query, b: Query): boolean {
  const questionOf = ({ values, sql, redact }: Query) => JSON.stringify([values, sql, redact])
  return questionOf(a) === questionOf(b)
}

/** The values that a parameter is chosen from, of which an empty one is none; `null` where it is written. */
export function choicesOf({ enum: listed, type, required }: Parameter): string[] | null {
  const choices = listed?.map(String) ?? (type === 'boolean' ? ['true', 'false'] : null)
  return choices && !required && !choices.includes('') ? ['', ...choices] : choices
}

/** As the link has them, else what the key fixes; of what is chosen from a list the first, where neither is. */
function initialValues(endpoint: Endpoint, given: Record<string, string>): Record<string, string> {
  const unfit = unfitValues(endpoint, given)
  const entries = endpoint.parameters.map(parameter => {
    const { name, pinned } = parameter
    return [name, name in unfit ? '' : (given[name] ?? pinned ?? choicesOf(parameter)?.[0] ?? '')] as const
  })
  return Object.fromEntries(entries)
}

/** Of a link: values that are not among those that its parameter is chosen from. */
function unfitValues({ parameters }: Endpoint, given: Record<string, string>): Record<string, string> {
  const unfit = parameters.filter(parameter => {
    const value = given[parameter.name] ?? parameter.pinned
    return value !== undefined && !(choicesOf(parameter)?.includes(value) ?? true)
  })
  return Object.fromEntries(unfit.map(({ name, pinned }) => [name, given[name] ?? pinned ?? '']))
}
