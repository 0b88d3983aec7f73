/** The window that makes an endpoint of what is on the page: its two files, to read, to take along, or to be written. */
import { useComputed, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { DraftAnswer } from '../query/draft.ts'
import { Button, Menu } from './controls.tsx'
import { download } from './copy.ts'
import { writeLink } from './link.ts'
import type { Savable } from './logs/as-endpoint.ts'
import { draftEndpoint, type Endpoint, listEndpoints, ServiceError } from './service.ts'

interface Props {
  apiKey: string
  endpoint: Endpoint
  /** What can be one; none where nothing can. */
  all: Savable[]
  close(): void
}

/** What is written in the fields, as far as files depend on it. */
interface Asked {
  title: string
  name: string
  description: string
}

interface Drafted {
  asked: Asked
  answer: DraftAnswer | null
  problem: string
}

export function SaveAs(props: Props) {
  if (props.all.length > 0) return <Files {...props} />
  return <p class="hint">The saved query is an endpoint already. Write SQL of your own, or go to the logs.</p>
}

function Files({ apiKey, endpoint, all, close }: Props) {
  const asked = useSignal<Asked>({
    title: all[0]!.title,
    name: `${endpoint.name}.mine`,
    description: `Made on the page, of ${endpoint.name}.`,
  })
  const drafted = useSignal<Drafted | null>(null)
  const isAsking = useSignal(false)
  const said = useSignal('')
  /** Whether the files are those of the fields. */
  const isCurrent = useComputed(
    () => drafted.value?.asked === asked.value && drafted.value.answer !== null && said.value === '',
  )
  const wishOf = ({ title, name, description }: Asked) => ({
    ...all.find(each => each.title === title)!.made,
    name: name.trim(),
    description: description.trim(),
  })
  const draft = async (write = false) => {
    const own = asked.value
    const done = await draftEndpoint(apiKey, endpoint, wishOf(own), write).then(
      answer => ({ answer, problem: '' }),
      (error: unknown) => {
        if (!(error instanceof ServiceError)) throw error
        return { answer: null, problem: error.problem.detail }
      },
    )
    if (asked.value === own) drafted.value = { asked: own, ...done }
    return done.answer
  }
  const isGone = useRef(false)
  useEffect(() => () => void (isGone.current = true), [])
  useEffect(() => void draft(), [asked.value])
  const change = (patch: Partial<Asked>) => {
    isAsking.value = false
    asked.value = { ...asked.value, ...patch }
  }
  const write = async () => {
    const { name, values } = wishOf(asked.value)
    isAsking.value = false
    said.value = 'Writing …'
    const answer = await draft(true)
    said.value = answer ? `Written. Waiting until ${name} is in force …` : ''
    if (!answer) return
    const isThere = await untilThere(apiKey, name)
    if (isGone.current) return // one went on with something else
    if (!isThere) return void (said.value = 'Written, but not in force: see what npm start says.')
    close()
    openEndpoint(name, endpoint, values)
  }
  const { answer = null, problem = '' } = drafted.value ?? {}
  const names = answer?.files.map(file => file.name).join(' and ')
  return (
    <>
      <form onSubmit={event => event.preventDefault()}>
        <fieldset class="save-as" disabled={said.value !== ''}>
          {all.length > 1 && (
            <Menu
              label="What becomes an endpoint"
              choices={all.map(({ title }) => [title, title])}
              chosen={asked.value.title}
              act={title => change({ title })}
            />
          )}
          <Field label="Name" text={asked.value.name} change={name => change({ name })} />
          <Field
            label="Description"
            text={asked.value.description}
            change={description => change({ description })}
          />
        </fieldset>
      </form>
      <p class="problem" role="alert">
        {problem}
      </p>
      <div class="work-acts">
        <Button disabled={!isCurrent.value} press={() => answer!.files.forEach(save)}>
          Download both
        </Button>
        {answer?.folder && (
          <Button class="primary" disabled={!isCurrent.value} press={() => (isAsking.value = true)}>
            Write to queries/ …
          </Button>
        )}
        <span role="status">{said.value}</span>
      </div>
      {isAsking.value && answer && (
        <div class="work-asks" role="group" aria-label="Write the files?">
          <p>
            Write {names} to <code>{answer.folder}</code>? The endpoint is in force at once.
          </p>
          <Button class="primary" press={() => void write()}>
            Write them
          </Button>
          <Button press={() => (isAsking.value = false)}>Not now</Button>
        </div>
      )}
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

/** Its text counts once it is whole: at Enter, or when it is left. What is typed stays, whatever answers meanwhile. */
function Field({ label, text, change }: { label: string; text: string; change(text: string): void }) {
  const typed = useSignal(text)
  return (
    <label>
      {label}
      <input
        type="text"
        value={typed}
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
async function untilThere(key: string, name: string): Promise<boolean> {
  for (let looks = 0; looks < mostLooks; looks++) {
    await new Promise(resolve => setTimeout(resolve, lookMs))
    const all = await listEndpoints(key).catch(() => [])
    if (all.some(endpoint => endpoint.name === name)) return true
  }
  return false
}

/** The page begins afresh, as it knows the endpoints from its start. */
function openEndpoint(name: string, { parameters }: Endpoint, given: Record<string, string>): void {
  const required = parameters.filter(parameter => parameter.required).map(parameter => parameter.name)
  const values = Object.fromEntries(
    Object.entries(given).filter(([parameter]) => required.includes(parameter)),
  )
  history.pushState(null, '', writeLink({ endpoint: name, values, sql: null, view: [] }))
  location.reload()
}
