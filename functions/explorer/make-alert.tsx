/** The window that makes an alert of what is on the page, with the endpoint that it needs where there is none. */
import type { DraftAnswer } from '../query/draft.ts'
import { alertOf, type Chosen, firstChoice, isShare, textOf, type Watched } from './alerts.ts'
import { Button } from './controls.tsx'
import type { Choices } from './choices.ts'
import { useEffect, useMemo } from 'preact/hooks'
import { AlertPreview, boundFor } from './alert-preview.ts'
import { Drafting, Field, LabelledMenu, openAfresh } from './drafting.tsx'
import { unitOf } from './series.ts'
import { draftEndpoint, type Endpoint, listAlerts, runQuery } from './service.ts'

interface Props {
  apiKey: string
  endpoint: Endpoint
  /** What it may look at, at least one. */
  all: Watched[]
  close(): void
}

export function MakeAlert({ apiKey, endpoint, all, close }: Props) {
  const preview = useMemo(
    () => new AlertPreview((query, signal) => runQuery(apiKey, { ...query, endpoint }, signal)),
    [],
  )
  useEffect(() => preview.stop, [])
  const watchedBy = ({ title }: Chosen, answer: DraftAnswer | null = null) =>
    offered(all, answer).find(each => each.title === title) ?? {
      ...all[0]!,
      title,
      value: title,
      isCount: false,
      unit: unitOf(title),
    }
  const name = (chosen: Chosen) => chosen.name.trim()
  const on = (chosen: Chosen) => (watchedBy(chosen).made ? name(chosen) : endpoint.name)
  return (
    <Drafting<Chosen>
      first={{ ...firstChoice, title: all[0]!.title, name: `${endpoint.name}.watched` }}
      what="The alert"
      draft={(chosen, write) => {
        const watched = watchedBy(chosen)
        const alert = alertOf(watched, chosen)
        const description = `Looked at by the alert ${alert.name}. Made on the page, of ${endpoint.name}.`
        const made = watched.made && { ...watched.made, name: alert.name, description }
        return draftEndpoint(apiKey, endpoint, { ...made, alert }, write)
      }}
      isThere={async chosen =>
        (await listAlerts(apiKey, { name: on(chosen) })).some(({ alert }) => alert === name(chosen))
      }
      open={chosen => {
        close()
        openAfresh(on(chosen), endpoint, watchedBy(chosen).values, [['view', 'alerts']])
      }}
      fields={(chosen, change, answer) => (
        <Fields
          preview={preview}
          all={offered(all, answer)}
          watched={watchedBy(chosen, answer)}
          chosen={chosen}
          change={change}
          offers={answer?.offers}
        />
      )}
    />
  )
}

/** Of an endpoint that is there its numbers too, which the service knows. */
function offered(all: Watched[], answer: DraftAnswer | null): Watched[] {
  const [first] = all as [Watched]
  if (first.value !== 'rows') return all
  const numbers = answer?.offers?.numbers ?? []
  return [
    ...all,
    ...numbers.map(value => ({
      ...first,
      title: value,
      value,
      isCount: false,
      unit: unitOf(value),
    })),
  ]
}

const sides: Record<Chosen['side'], string> = { above: 'more than', below: 'less than', none: 'nothing came' }
const befores: Choices = [
  ['', 'not compared'],
  ['PT1H', 'times the hour before'],
  ['P1D', 'times the day before'],
  ['P7D', 'times the week before'],
]
const windows: Choices = [
  ['5m', 'last 5 minutes'],
  ['15m', 'last 15 minutes'],
  ['1h', 'last hour'],
  ['6h', 'last 6 hours'],
  ['1d', 'last day'],
]
const intervals: Choices = [
  ['PT1M', 'every minute'],
  ['PT5M', 'every 5 minutes'],
  ['PT15M', 'every 15 minutes'],
  ['PT1H', 'every hour'],
]
const patience: Choices = [
  ['', 'told at once'],
  ['PT5M', 'told after 5 minutes'],
  ['PT15M', 'told after 15 minutes'],
  ['PT1H', 'told after an hour'],
]
const severities: Choices = ['info', 'warning', 'critical'].map(each => [each, each] as const)

interface FieldsProps {
  preview: AlertPreview
  all: Watched[]
  watched: Watched
  chosen: Chosen
  change(patch: Partial<Chosen>): void
  offers: DraftAnswer['offers'] | undefined
}

function Fields(props: FieldsProps) {
  const { watched, chosen, change, offers } = props
  const { about, window } = watched
  return (
    <>
      {about !== '' && <p class="hint">Of {about}.</p>}
      <Condition {...props} />
      <Present {...props} />
      <div class="alert-fields" role="group" aria-label="How often">
        {window.start && <Choice label="Window" field="window" choices={windows} {...props} />}
        <Choice label="Evaluated" field="every" choices={intervals} {...props} />
        <Choice label="Patience" field="for" choices={patience} {...props} />
        <Choice label="Severity" field="severity" choices={severities} {...props} />
      </div>
      <Channels names={offers?.channels ?? []} chosen={chosen} change={change} />
      <Field
        label="Text"
        placeholder={textOf(watched)}
        text={chosen.text}
        change={text => change({ text })}
      />
      <Field label="Name" text={chosen.name} change={name => change({ name })} />
    </>
  )
}

interface ChoiceProps extends Pick<FieldsProps, 'chosen' | 'change'> {
  label: string
  field: keyof Chosen
  choices: Choices
  /** What changes with it. */
  also?: Partial<Chosen>
}

function Choice({ label, field, choices, chosen, change, also }: ChoiceProps) {
  const act = (value: string) => change({ [field]: value, ...also })
  return <LabelledMenu label={label} choices={choices} chosen={String(chosen[field])} act={act} />
}

/** A bound of another number than that which it was written for is no bound. */
const unwritten: Partial<Chosen> = { isOwnBound: false }

function Condition(props: FieldsProps) {
  const { all, watched, chosen, change, offers } = props
  const titles: Choices = all.map(({ title }) => [title, title])
  const own = (Object.keys(sides) as Chosen['side'][]).filter(side => side !== 'none' || watched.isCount)
  const numbers = offers?.numbers.filter(each => each !== watched.value) ?? []
  const isDivisible = !watched.made && !watched.isCount && numbers.length > 0
  const divisors: Choices = [['', 'as it is'], ...numbers.map(each => [each, `of ${each}`] as const)]
  const isWindowed = Boolean(watched.window.start && watched.window.end)
  return (
    <div class="alert-fields" role="group" aria-label="When">
      <Choice
        label="What is looked at"
        field="title"
        choices={titles}
        also={{ ...unwritten, side: 'above', of: '' }}
        {...props}
      />
      {isDivisible && <Choice label="Divided by" field="of" choices={divisors} also={unwritten} {...props} />}
      <Choice label="Condition" field="side" choices={own.map(side => [side, sides[side]])} {...props} />
      {chosen.side !== 'none' && (
        <>
          <Field
            label="Bound"
            isNumber
            unit={chosen.before !== '' ? 'times' : isShare(watched, chosen) ? '%' : watched.unit}
            text={chosen.bound}
            change={bound => change({ bound, isOwnBound: true })}
          />
          {isWindowed && (
            <Choice label="Compared with" field="before" choices={befores} also={unwritten} {...props} />
          )}
        </>
      )}
    </div>
  )
}

/** What it is now, whether that would set it off, and a bound that goes by it until one is written. */
function Present({ preview, watched, chosen, change }: FieldsProps) {
  const bound = boundFor(preview.valueOf(watched, chosen), chosen, isShare(watched, chosen))
  // What no window bounds may cost more than one expects.
  const isBounded = watched.window.start !== undefined
  useEffect(() => {
    if (isBounded) preview.look(watched, chosen)
  }, [chosen.title, chosen.window, chosen.before])
  useEffect(() => {
    if (!chosen.isOwnBound && bound !== null && bound !== chosen.bound) change({ bound })
  }, [bound, chosen.isOwnBound])
  const said = preview.said(watched, chosen)
  return (
    <p class="alert-present" role="status">
      {said || (!isBounded && <Button press={() => preview.look(watched, chosen)}>What is it now?</Button>)}
    </p>
  )
}

function Channels({
  names,
  chosen: { channels },
  change,
}: Pick<FieldsProps, 'chosen' | 'change'> & { names: string[] }) {
  if (names.length === 0)
    return (
      <p class="hint">
        channels.yaml names whom alerts may tell. It names nobody yet, so this one shows here and in the log.
      </p>
    )
  return (
    <div class="alert-fields" role="group" aria-label="Tells">
      <span>Tells</span>
      {names.map(name => (
        <label key={name} class="check">
          <input
            type="checkbox"
            checked={channels.includes(name)}
            onChange={({ currentTarget: { checked } }) =>
              change({ channels: checked ? [...channels, name] : channels.filter(each => each !== name) })
            }
          />
          {name}
        </label>
      ))}
    </div>
  )
}
