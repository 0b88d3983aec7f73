/** The alerts of an endpoint, or of all, as a view: their states, what was told and to whom, and the rows that they look at. */
import type { ComponentChildren } from 'preact'
import type { AlertStatus } from '../../shared/alerts/list.ts'
import { queryText } from '../../shared/endpoints/query-string.ts'
import {
  Alerts,
  conditionText,
  distance,
  nextOf,
  rowsOf,
  rowsWatched,
  type ShownState,
  stateOf,
  states,
  summaryOf,
  type Watched,
} from './alerts.ts'
import { Button } from './controls.tsx'
import { Icon } from './icon.tsx'
import type { Link } from './address.ts'
import type { View } from './places.ts'
import type { Opening } from './service.ts'

interface AlertsOpening extends Opening {
  /** Goes to other rows. */
  follow(link: Link): void
  /** What an alert can look at in the endpoint's first view; `null` = there is none that says so. */
  watched(): Promise<Watched[] | null>
}

export function alertsView(opening: AlertsOpening): View {
  const alerts = new Alerts(opening)
  const { endpoint, link, follow, watched } = opening
  return {
    body: <AlertsOf name={endpoint.name} alerts={alerts} follow={follow} />,
    values: () => link.values,
    watched: async () => (await watched()) ?? [rowsWatched(endpoint, link.values, null)],
    close: alerts.close,
  }
}

/** Of more sets one looks for in `lqe alert list`. */
const most = 200

function AlertsOf({ name, alerts, follow }: { name: string; alerts: Alerts; follow(link: Link): void }) {
  const { all, problem, at } = alerts
  const ofAll = alerts.areOfAll.value
  const shown = all.value ?? []
  return (
    <article class="alerts">
      <div class="form-title">
        <h2>{ofAll ? 'All endpoints' : name}</h2>
        <span class="group" role="group" aria-label="Alerts of">
          {[false, true].map(each => (
            <Button key={String(each)} aria-pressed={ofAll === each} press={() => alerts.show(each)}>
              {each ? 'All endpoints' : 'This endpoint'}
            </Button>
          ))}
        </span>
        <p class="status" role="status">
          {all.value === null ? 'Loading …' : shown.length > 0 && summaryOf(shown)}
        </p>
      </div>
      <p class="problem" role="alert">
        {problem}
      </p>
      <ul>
        {all.value?.length === 0 && (
          <li>
            <NoAlerts on={ofAll ? 'any endpoint' : 'this endpoint'} />
          </li>
        )}
        {shown.slice(0, most).map(alert => (
          <li key={`${alert.endpoint} ${alert.alert} ${queryText(alert.parameters)}`}>
            <One alert={alert} at={at.value} follow={follow} isNamed={ofAll} />
          </li>
        ))}
      </ul>
      {shown.length > most && <p class="hint">The first {most} are here: lqe alert list has all.</p>}
    </article>
  )
}

function NoAlerts({ on }: { on: string }) {
  return (
    <section class="card empty">
      <h3>No alert looks at {on}</h3>
      <p>
        “New alert” drafts one of what the logs, the form or SQL ask: when it fires, and whom it tells. It is
        a file <code>NAME.alert.yaml</code> in <code>queries/</code>, which <code>lqe apply</code> puts in
        force.
      </p>
    </section>
  )
}

interface OneProps {
  alert: AlertStatus
  at: number
  follow(link: Link): void
}

/** A line that says how it is; pressed, what was told and to whom. */
function One({ alert, at, follow, isNamed }: OneProps & { isNamed: boolean }) {
  const { endpoint, condition, value, since, silencedUntil, undelivered, text, parameters, severity } = alert
  const state = stateOf(alert)
  return (
    <details class="alert">
      <summary>
        <State state={state} severity={severity} />
        <strong>{alert.alert}</strong>
        <span class="parameters">
          {[isNamed && endpoint, conditionText(condition), queryText(parameters)].filter(Boolean).join(' · ')}
        </span>
        {since !== null && <Time time={since}>for {distance(since, at)}</Time>}
        <span class="number">{value === null ? '' : shortNumber(value)}</span>
        {text !== '' && <span class="told">{text}</span>}
        {silencedUntil !== null && (
          <Mark icon="silenced">
            silenced for <Time time={silencedUntil}>{distance(silencedUntil, at)}</Time>
          </Mark>
        )}
        {undelivered.map(({ channel, since, givenUp }) => (
          <Mark key={channel} icon="failing">
            not delivered to {channel} since <Time time={since}>{minutes(since)}</Time>
            {givenUp && ', given up until channels are applied again'}
          </Mark>
        ))}
        <Icon name="down" />
      </summary>
      <More alert={alert} at={at} follow={follow} />
    </details>
  )
}

function More({ alert, at, follow }: OneProps) {
  const { channels, severity, history } = alert
  const rows = rowsOf(alert)
  return (
    <div class="alert-more">
      <dl>
        <dt>Tells</dt>
        <dd>{channels.join(', ') || 'nobody: it shows here and in the log'}</dd>
        <dt>Severity</dt>
        <dd>{severity}</dd>
        <dt>Evaluated next</dt>
        <dd>{nextOf(alert, at)}</dd>
      </dl>
      {rows ? (
        <Button press={() => follow(rows)}>Show the rows</Button>
      ) : (
        <p class="hint">Redaction has taken out what its rows are asked with.</p>
      )}
      <h3>Told so far</h3>
      {history.length === 0 && <p class="hint">Nothing yet.</p>}
      <ol>
        {history.map(({ id, at: time, state, value }) => (
          <li key={id}>
            <State state={stateOf({ state })} word={state} />
            <Time time={time}>{minutes(time)}</Time>
            <span class="number">{value === null ? '' : shortNumber(value)}</span>
          </li>
        ))}
      </ol>
    </div>
  )
}

/** By its shape, its colour and its word. */
function State({
  state,
  word = states[state],
  severity,
}: {
  state: ShownState
  word?: string
  severity?: string
}) {
  return (
    <span class={`alert-state ${state.replace(' ', '-')} ${severity ?? ''}`}>
      <Icon name={state} />
      {word}
    </span>
  )
}

function Mark({ icon, children }: { icon: 'silenced' | 'failing'; children: ComponentChildren }) {
  return (
    <span class={`alert-mark ${icon}`}>
      <Icon name={icon} />
      <span>{children}</span>
    </span>
  )
}

function Time({ time, children }: { time: string; children: ComponentChildren }) {
  return (
    <time dateTime={time} title={time}>
      {children}
    </time>
  )
}

/** `2026-01-31 12:00 UTC` */
function minutes(time: string): string {
  return `${time.slice(0, 16).replace('T', ' ')} UTC`
}

/** Shares and averages have many digits. */
function shortNumber(value: number): string {
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(4)))
}
