/** One endpoint, open: its form, perhaps SQL, the run, and what came of it. */
import { failure } from './failure.ts'
import { el, show } from './dom.ts'
import { form } from './form.ts'
import type { Link } from './link.ts'
import { results } from './results.ts'
import { ask, type Endpoint, type Question, Refused } from './service.ts'
import { statement } from './statement.ts'

export interface OpenEndpoint {
  element: HTMLElement
  values(): Record<string, string>
  /** Ends what is running. */
  close(): void
}

interface Opening {
  key: string
  endpoint: Endpoint
  /** What the fields are filled with. */
  link: Link | null
  /** Called when a question is asked, for the address. */
  remember(link: Link): void
}

export function openEndpoint({ key, endpoint, link, remember }: Opening): OpenEndpoint {
  const fields = form(endpoint, link?.values ?? {}, () => {})
  const sql = endpoint.sandbox ? statement({ key, endpoint, sql: link?.sql ?? null, run }) : null
  const button = el('button', { type: 'button', class: 'primary', onclick: runOrStop }, 'Run')
  const status = el('p', { class: 'status', role: 'status' })
  const place = el('div', { class: 'outcome' })
  let running: AbortController | null = null

  const question = (): Question => ({
    endpoint,
    values: fields.values(),
    sql: sql?.text() ?? null,
    redact: fields.redact(),
  })

  function runOrStop(): void {
    if (running) running.abort()
    else run()
  }

  function run(): void {
    running?.abort()
    const own = new AbortController()
    running = own
    void outcomeOf(question(), own.signal).then(element => {
      if (running !== own) return
      running = null
      button.textContent = 'Run'
      place.removeAttribute('aria-busy')
      if (element) show(place, element)
    })
    button.textContent = 'Stop'
    status.textContent = 'Running …'
    place.setAttribute('aria-busy', 'true')
  }

  async function outcomeOf(asked: Question, signal: AbortSignal): Promise<HTMLElement | null> {
    remember({ endpoint: endpoint.name, values: asked.values, sql: asked.sql })
    fields.complain([])
    sql?.complain([])
    try {
      const answer = await ask(key, asked, signal)
      const element = await results(asked, answer)
      status.textContent = answer.rows.length === 1 ? '1 row.' : `${answer.rows.length} rows.`
      return element
    } catch (error) {
      if (!(error instanceof Refused)) return stopped(error)
      status.textContent = ''
      const left = fields.complain(error.problem.errors ?? [])
      return failure(error, sql?.complain(left) ?? left)
    }
  }

  function stopped(error: unknown): null {
    if (!(error instanceof DOMException && error.name === 'AbortError')) throw error
    status.textContent = 'Stopped.'
    return null
  }

  const element = el(
    'article',
    {
      onkeydown: event => {
        const { key: pressed, ctrlKey, metaKey } = event as KeyboardEvent
        if (pressed !== 'Enter' || event.defaultPrevented) return
        const inField = event.target instanceof HTMLInputElement
        if (!ctrlKey && !metaKey && !inField) return
        event.preventDefault()
        run()
      },
    },
    el('h2', {}, endpoint.name),
    el('p', { class: 'description' }, endpoint.description),
    fields.element,
    sql?.element,
    el(
      'div',
      { class: 'run' },
      button,
      el('span', { class: 'hint' }, 'or Ctrl-Enter'),
      status,
      fields.redaction,
    ),
    place,
  )
  const missing = missingIn(endpoint, fields.values())
  if (missing.length === 0 && !link?.sql) run()
  else show(place, invitation(missing))
  return { element, values: fields.values, close: () => running?.abort() }
}

/** A link with SQL waits for a press: whoever sent it should not make its reader pay for a scan. */
function invitation(missing: string[]): HTMLElement {
  const text =
    missing.length === 0
      ? 'This link brings a query of its own. Read it, then press Run.'
      : `Fill in ${missing.join(' and ')}, then press Run.`
  return el('div', { class: 'card empty' }, el('h3', {}, 'Nothing asked yet'), el('p', {}, text))
}

function missingIn({ parameters }: Endpoint, values: Record<string, string>): string[] {
  return parameters.filter(({ name, required }) => required && !values[name]).map(({ name }) => name)
}
