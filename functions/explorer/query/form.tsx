/** The form of an endpoint, made from its parameters, with the service's problems beside their fields. */
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Button, TextInput } from '../controls.tsx'
import type { Choices } from '../choices.ts'
import { type Parameter, parametersOf } from '../service.ts'
import { TimePicker } from '../time-picker.tsx'
import { type QueryStore, choicesOf, redactionHeader, quickRanges } from './store.ts'

export function Form({ store }: { store: QueryStore }) {
  return (
    <div class="fields">
      {store.endpoint.parameters.map(parameter => (
        <Field key={parameter.name} store={store} parameter={parameter} />
      ))}
      <QuickRanges store={store} />
    </div>
  )
}

/** The switch for redaction, which is no parameter. */
export function Redaction({ store }: { store: QueryStore }) {
  const trouble = useId()
  const element = useFocusOfWrong(store, redactionHeader)
  const problem = store.problemOf(redactionHeader)
  const title = store.endpoint.redact
    ? 'This endpoint does so by itself; lifting it takes a key with the right pii:read.'
    : 'Addresses, e-mails, tokens and the like become REDACTED.'
  return (
    <div ref={element}>
      <label class="check" title={title}>
        <input
          type="checkbox"
          role="switch"
          checked={store.redact}
          aria-describedby={trouble}
          aria-invalid={problem !== '' || undefined}
          onChange={({ currentTarget }) => store.setRedact(currentTarget.checked)}
        />
        Redact personal data
      </label>
      <Trouble id={trouble} text={problem} />
    </div>
  )
}

/** Ranges up to now, where a parameter is the time that entries come after, and perhaps another that they come before. */
function QuickRanges({ store }: { store: QueryStore }) {
  const id = useId()
  if (!parametersOf(store.endpoint).start) return null
  return (
    <div class="field ranges" role="group" aria-labelledby={id}>
      <span class="label" id={id}>
        Quick ranges
      </span>
      <div>
        {quickRanges.map(([from, text]) => (
          <Button key={from} press={() => store.runFrom(from)}>
            {text}
          </Button>
        ))}
      </div>
    </div>
  )
}

function Field({ store, parameter }: { store: QueryStore; parameter: Parameter }) {
  const { name, description, required, examples = [] } = parameter
  const id = useId()
  const element = useFocusOfWrong(store, name)
  const control: Control = {
    parameter,
    value: store.values.value[name] ?? '',
    write: text => store.write(name, text),
    attributes: {
      id,
      'aria-describedby': `${id}-about ${id}-trouble`,
      'aria-invalid': store.problemOf(name) !== '' || undefined,
    },
  }
  const caption = (
    <>
      <code>{name}</code>
      {required && <span class="required">required</span>}
    </>
  )
  return (
    <div class="field" ref={element}>
      {isGroup(parameter) ? (
        <span class="label" id={`${id}-label`}>
          {caption}
        </span>
      ) : (
        <label for={id}>{caption}</label>
      )}
      <ControlOf {...control} />
      <Trouble id={`${id}-trouble`} text={store.problemOf(name)} />
      <p class="hint" id={`${id}-about`}>
        {description}
        {examples.length > 0 && (
          <span class="example">
            {' '}
            For example: <code>{String(examples[0])}</code>
          </span>
        )}
      </p>
    </div>
  )
}

/** What is to be put right first takes the focus, unless one writes on meanwhile. @returns for the element that has the control */
function useFocusOfWrong({ firstWrong, problems, isCurrent }: QueryStore, name: string) {
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (firstWrong.value === name && isCurrent.value)
      element.current!.querySelector<HTMLElement>('input, select')!.focus()
  }, [problems.value])
  return element
}

/** The service's words, with a capital and a full stop. */
function Trouble({ id, text }: { id: string; text: string }) {
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
  return (
    <p class="problem" id={id}>
      {text && sentence}
    </p>
  )
}

interface Control {
  parameter: Parameter
  value: string
  write(text: string): void
  attributes: Named
}

/** How a control is told of by those who do not see it. */
interface Named {
  id?: string
  'aria-label'?: string
  'aria-labelledby'?: string
  'aria-describedby'?: string
  'aria-invalid'?: boolean | undefined
}

/** A few choices stand side by side, and are named by a text; many fold into a list. */
function isGroup(parameter: Parameter): boolean {
  return (choicesOf(parameter)?.length ?? Infinity) <= 6
}

function ControlOf(control: Control) {
  const { parameter, value, write, attributes } = control
  const choices = choicesOf(parameter)
  if (!choices)
    return parameter.format === 'iso-timestamp' ? <TimeField {...control} /> : <TextField {...control} />
  const named = choices.map(choice => [choice, choice || 'any'] as const)
  return isGroup(parameter) ? (
    <Segments
      {...attributes}
      aria-labelledby={`${attributes.id}-label`}
      choices={named}
      chosen={value}
      choose={write}
    />
  ) : (
    <select {...attributes} value={value} onChange={({ currentTarget }) => write(currentTarget.value)}>
      {named.map(([choice, text]) => (
        <option key={choice} value={choice}>
          {text}
        </option>
      ))}
    </select>
  )
}

interface SegmentsProps extends Named {
  choices: Choices
  chosen: string
  choose(value: string): void
}

/** Radio buttons side by side. */
export function Segments({ choices, chosen, choose, ...rest }: SegmentsProps) {
  const name = useId()
  return (
    <div {...rest} class="segments" role="radiogroup">
      {choices.map(([value, text]) => (
        <label key={value}>
          <input
            type="radio"
            name={name}
            value={value}
            checked={value === chosen}
            onChange={() => choose(value)}
          />
          <span>{text}</span>
        </label>
      ))}
    </div>
  )
}

function TextField({ parameter, value, write, attributes, placeholder }: Control & { placeholder?: string }) {
  const { type, default: usual, required, maxLength } = parameter
  const isNumeric = type === 'integer' || type === 'number'
  return (
    <TextInput
      inputMode={isNumeric ? 'decimal' : undefined}
      maxLength={maxLength}
      aria-required={required || undefined}
      autocapitalize="off"
      placeholder={usual === undefined ? placeholder : `${usual} unless you say otherwise`}
      {...attributes}
      value={value}
      write={write}
    />
  )
}

/** The text is the value, so that any time the service takes can be written. In UTC. */
function TimeField(control: Control) {
  const { parameter, value, write } = control
  const pick = (time: string) => write(time && `${time}Z`)
  return (
    <div class="time">
      <TextField {...control} placeholder={parameter.required ? '-1h' : 'any'} />
      <TimePicker label={parameter.name} from={() => value} pick={pick} />
    </div>
  )
}
