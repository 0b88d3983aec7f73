/** The form of an endpoint, made from its parameters, with the service's problems beside their fields. */
import { useId } from 'preact/hooks'
import { Button } from '../controls.tsx'
import { parametersOf } from '../service.ts'
import { Field, Trouble, useFocusOfWrong } from './field.tsx'
import { type QueryStore, redactionHeader } from './store.ts'

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

const ranges = [
  ['-15m', 'Last 15 min'],
  ['-1h', 'Last hour'],
  ['-1d', 'Last 24 hours'],
  ['-7d', 'Last 7 days'],
  ['', 'All time'],
] as const

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
        {ranges.map(([from, text]) => (
          <Button key={from} press={() => store.runFrom(from)}>
            {text}
          </Button>
        ))}
      </div>
    </div>
  )
}
