/** What windows have that draft files of `queries/`: the files of what is chosen, to read, to take along, or to be written. */
import { type Signal, useComputed, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { DraftAnswer } from '../query/draft.ts'
import { Button } from './controls.tsx'
import { download } from './copy.ts'
import { writeLink } from './link.ts'
import { type Endpoint, ServiceError } from './service.ts'

/** @template Asked what is chosen and written, as far as files depend on it: a new value for each change */
interface Props<Asked> {
  first: Asked
  /** What is made, such as `The endpoint`. */
  what: string
  /** @throws ServiceError */
  draft(asked: Asked, write: boolean): Promise<DraftAnswer>
  /** @param answer the last draft; it may be of other fields */
  fields(asked: Asked, change: (patch: Partial<Asked>) => void, answer: DraftAnswer | null): ComponentChildren
  /** Whether what was written is in force. */
  isThere(asked: Asked): Promise<boolean>
  /** Goes on to what was made. */
  open(asked: Asked): void
}

interface Drafted<Asked> {
  asked: Asked
  answer: DraftAnswer | null
  problem: string
}

export function Drafting<Asked extends { name: string }>(props: Props<Asked>) {
  const { asked, drafted, known, isAsking, said, isCurrent, change, write } = useDrafts(props)
  const { answer = null, problem = '' } = drafted.value ?? {}
  return (
    <>
      <form onSubmit={event => event.preventDefault()}>
        <fieldset class="save-as" disabled={said.value !== ''}>
          {props.fields(asked.value, change, known.value)}
        </fieldset>
      </form>
      <p class="problem" role="alert">
        {problem}
      </p>
      {answer && <Acts what={props.what} {...{ answer, isCurrent, isAsking, said, write }} />}
      {answer?.files.map(({ name, text }) => (
        <section key={name}>
          <h3>{name}</h3>
          <pre tabIndex={0} aria-label={name}>
            {text}
          </pre>
        </section>
      ))}
    </>
  )
}

/** What is asked, the files that the service makes of it, and how they are written. */
function useDrafts<Asked extends { name: string }>({ first, draft, isThere, open }: Props<Asked>) {
  const asked = useSignal(first)
  const drafted = useSignal<Drafted<Asked> | null>(null)
  const known = useSignal<DraftAnswer | null>(null)
  const [isAsking, said, isGone] = [useSignal(false), useSignal(''), useRef(false)]
  const ask = async (write: boolean) => {
    const own = asked.value
    const done = await draft(own, write).then(
      answer => ({ answer, problem: '' }),
      (error: unknown) => {
        if (!(error instanceof ServiceError)) throw error
        return { answer: null, problem: error.problem.detail }
      },
    )
    if (asked.value === own) drafted.value = { asked: own, ...done }
    known.value = done.answer ?? known.value
    return done.answer
  }
  useEffect(() => () => void (isGone.current = true), [])
  useEffect(() => void ask(false), [asked.value])
  const change = (patch: Partial<Asked>) => {
    isAsking.value = false
    asked.value = { ...asked.value, ...patch }
  }
  const write = async () => {
    const own = asked.value
    isAsking.value = false
    said.value = 'Writing …'
    const answer = await ask(true)
    said.value = answer ? `Written. Waiting until ${own.name.trim()} is in force …` : ''
    if (!answer) return
    const isInForce = await until(() => isThere(own))
    if (isGone.current) return // one went on with something else
    if (isInForce) open(own)
    else said.value = 'Written, but not in force: see what npm start says.'
  }
  /** Whether the files are those of the fields. */
  const isCurrent = useComputed(
    () => drafted.value?.asked === asked.value && drafted.value.answer !== null && said.value === '',
  )
  return { asked, drafted, known, isAsking, said, isCurrent, change, write }
}

interface ActsProps {
  what: string
  answer: DraftAnswer
  isCurrent: Signal<boolean>
  isAsking: Signal<boolean>
  said: Signal<string>
  write(): Promise<void>
}

function Acts({ what, answer: { files, folder }, isCurrent, isAsking, said, write }: ActsProps) {
  return (
    <>
      <div class="work-acts">
        <Button disabled={!isCurrent.value} press={() => files.forEach(save)}>
          {files.length === 1 ? 'Download' : files.length === 2 ? 'Download both' : 'Download all'}
        </Button>
        {folder && (
          <Button class="primary" disabled={!isCurrent.value} press={() => (isAsking.value = true)}>
            Write to queries/ …
          </Button>
        )}
        <span role="status">{said.value}</span>
      </div>
      {isAsking.value && (
        <div class="work-asks" role="group" aria-label="Write the files?">
          <p>
            Write {files.map(file => file.name).join(' and ')} to <code>{folder}</code>? {what} is in force at
            once.
          </p>
          <Button class="primary" press={() => void write()}>
            Write them
          </Button>
          <Button press={() => (isAsking.value = false)}>Not now</Button>
        </div>
      )}
    </>
  )
}

interface FieldProps {
  label: string
  text: string
  change(text: string): void
  /** What counts where it is empty. */
  placeholder?: string
  /** A number, whose label what stands before it makes plain. */
  isNumber?: boolean
}

/** Its text counts once it is whole: at Enter, or when it is left. What is typed stays, whatever answers meanwhile. */
export function Field({ label, text, change, placeholder, isNumber = false }: FieldProps) {
  const typed = useSignal(text)
  return (
    <label>
      <span class={isNumber ? 'unseen' : undefined}>{label}</span>
      <input
        type="text"
        value={typed}
        placeholder={placeholder}
        inputMode={isNumber ? 'decimal' : undefined}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
        onChange={() => change(typed.value)}
      />
    </label>
  )
}

function save({ name, text }: DraftAnswer['files'][number]): void {
  download(name, text, name.endsWith('.sql') ? 'application/sql' : 'application/yaml')
}

const lookMs = 200
const mostLooks = 50

/** `npm start` applies files as they are saved. */
async function until(isThere: () => Promise<boolean>): Promise<boolean> {
  for (let looks = 0; looks < mostLooks; looks++) {
    await new Promise(resolve => setTimeout(resolve, lookMs))
    if (await isThere().catch(() => false)) return true
  }
  return false
}

/** The page begins afresh, as it knows the endpoints from its start. @param given values, of which the required ones go along */
export function openAfresh(
  name: string,
  { parameters }: Endpoint,
  given: Record<string, string>,
  view: [string, string][] = [],
): void {
  const required = parameters.filter(parameter => parameter.required).map(parameter => parameter.name)
  const values = Object.fromEntries(
    Object.entries(given).filter(([parameter]) => required.includes(parameter)),
  )
  history.pushState(null, '', writeLink({ endpoint: name, values, sql: null, view }))
  location.reload()
}
