/** What windows have that draft files of `queries/`: the files of what is chosen, to read, to take along, or to be written. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { DraftAnswer } from '../query/draft.ts'
import type { Choices } from './choices.ts'
import { Button, Copy, Menu } from './controls.tsx'
import { download } from './copy.ts'
import { Drafts, type Made } from './drafts.ts'
import { writeLink } from './address.ts'
import type { Endpoint } from './service.ts'

/** `Asked` is as of `Made`. */
interface Props<Asked> extends Made<Asked> {
  /** What is made, such as `The endpoint`. */
  what: string
  /** @param answer the last draft; it may be of other fields */
  fields(asked: Asked, change: (patch: Partial<Asked>) => void, answer: DraftAnswer | null): ComponentChildren
}

export function Drafting<Asked extends { name: string }>({ what, fields, ...made }: Props<Asked>) {
  const drafts = useMemo(() => new Drafts(made), [])
  useEffect(() => drafts.close, [])
  const answer = drafts.answer.value
  const problem = drafts.problem.value
  return (
    <>
      <form onSubmit={event => event.preventDefault()}>
        <fieldset class="save-as" disabled={drafts.written.value !== ''}>
          {fields(drafts.asked.value, drafts.change, answer)}
        </fieldset>
      </form>
      {answer && <Acts what={what} answer={answer} drafts={drafts} />}
      {/* Below what is pressed, which stays where one points. */}
      <p class="problem" role="alert">
        {problem}
      </p>
      {problem === '' && answer?.files.map(file => <File key={file.name} {...file} />)}
    </>
  )
}

const kinds: [ending: RegExp, kind: string][] = [
  [/\.sql$/, 'SQL'],
  [/\.alert\.yaml$/, 'alert'],
  [/\.yaml$/, 'definition'],
]

function File({ name, text }: DraftAnswer['files'][number]) {
  const [, kind] = kinds.find(([ending]) => ending.test(name))!
  return (
    <section>
      <div class="work-acts">
        <h3>{name}</h3>
        <Copy name={`Copy the ${kind}`} text={() => text} />
      </div>
      <pre tabIndex={0} aria-label={name}>
        {text}
      </pre>
    </section>
  )
}

interface ActsProps<Asked extends { name: string }> {
  what: string
  answer: DraftAnswer
  drafts: Drafts<Asked>
}

function Acts<Asked extends { name: string }>({ what, answer: { files, folder }, drafts }: ActsProps<Asked>) {
  const { isAsking, written, downloaded } = drafts
  const isBusy = written.value !== ''
  return (
    <>
      <div class="work-acts">
        <Button disabled={isBusy} press={() => void drafts.download(save)}>
          {files.length === 1 ? 'Download' : files.length === 2 ? 'Download both' : 'Download all'}
        </Button>
        {folder && (
          <Button class="primary" disabled={isBusy} press={() => void drafts.askToWrite()}>
            Write to queries/ …
          </Button>
        )}
        <span role="status">{written.value}</span>
      </div>
      <div role="status">
        {downloaded.value.length > 0 && <Downloaded names={downloaded.value} what={what} folder={folder} />}
      </div>
      {isAsking.value && (
        <div class="work-asks" role="group" aria-label="Write the files?">
          <p>
            Write {listed(files.map(file => file.name))} to <code>{folder}</code>? {what} is in force at once.
          </p>
          <Button class="primary" press={() => void drafts.write()}>
            Write them
          </Button>
          <Button press={() => (isAsking.value = false)}>Not now</Button>
        </div>
      )}
    </>
  )
}

interface DownloadedProps {
  names: string[]
  what: string
  folder: string | null
}

/** What one does next with files that are in the browser's folder of downloads. */
function Downloaded({ names, what, folder }: DownloadedProps) {
  const command = 'npx lqe apply'
  return (
    <div class="work-asks">
      <p>
        <strong>Downloaded {listed(names)}.</strong>
        {folder ? (
          <>
            {' '}
            Move {names.length === 1 ? 'it' : 'them'} to <code>{folder}</code>: {what.toLowerCase()} is in
            force as soon as {names.length === 1 ? 'it is' : 'they are'} there.
          </>
        ) : (
          <>
            {' '}
            Move {names.length === 1 ? 'it' : 'them'} to <code>queries/</code> of the folder that the service
            is deployed from, and run <code>{command}</code> there: it tests {what.toLowerCase()} and puts it
            in force.
          </>
        )}
      </p>
      {!folder && <Copy name="Copy the command" text={() => command} />}
    </div>
  )
}

/** `a, b and c` */
function listed(names: string[]): string {
  return new Intl.ListFormat('en').format(names)
}

/** A menu of a window, with its label above it. */
export function LabelledMenu(props: {
  label: string
  choices: Choices
  chosen: string
  act(value: string): void
}) {
  return (
    <div class="labelled">
      <span aria-hidden="true">{props.label}</span>
      <Menu {...props} />
    </div>
  )
}

interface FieldProps {
  label: string
  text: string
  change(text: string): void
  /** What counts where it is empty. */
  placeholder?: string
  isNumber?: boolean
  /** What its number is in. */
  unit?: string
}

/** Its text counts once it is whole: at Enter, or when it is left. What is typed stays, whatever answers meanwhile. */
export function Field({ label, text, change, placeholder, isNumber = false, unit = '' }: FieldProps) {
  const typed = useSignal(text)
  const isTyped = useRef(false)
  useEffect(() => {
    if (!isTyped.current) typed.value = text
  }, [text])
  // What is typed counts even where it was there before: the browser's `change` does not tell of that.
  const end = () => {
    if (isTyped.current) change(typed.value)
    isTyped.current = false
  }
  return (
    <label>
      <span>{unit === '' ? label : `${label} (${unit})`}</span>
      <input
        type="text"
        value={typed}
        placeholder={placeholder}
        inputMode={isNumber ? 'decimal' : undefined}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value
          isTyped.current = true
        }}
        onBlur={end}
        onKeyDown={({ key }) => key === 'Enter' && end()}
      />
    </label>
  )
}

function save({ name, text }: DraftAnswer['files'][number]): void {
  download(name, text, name.endsWith('.sql') ? 'application/sql' : 'application/yaml')
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
