/**
 * Logflare's alert queries, as its API lists them (`GET /api/alerts`): beside the endpoint that their query becomes, an alert that
 * tells where the endpoint has rows. The fields are those of Logflare's `lib/logflare/alerting/alert_query.ex`.
 */
import type { Place } from '../../../shared/sql/error.ts'
import { type AlertDraft, assertFields, type FieldType, fileName, Refusal, type WithFields } from './draft.ts'

/** Those that an endpoint of Logflare's has not. */
const fields = {
  cron: 'string',
  slack_hook_url: 'string',
  webhook_notification_url: 'string',
  webhook_notification_headers: 'any',
  enabled: 'boolean',
  backends: 'list',
} as const satisfies Record<string, FieldType>

type LogflareAlert = WithFields<typeof fields> & { name: string; description?: string | null; cron: string }

/** Whether it is an alert, and no endpoint. */
export function isAlert(value: unknown): value is LogflareAlert {
  return Object.hasOwn(Object(value) as object, 'cron')
}

export interface AlertParts {
  /** The fields that are those of an endpoint. */
  query: object
  seconds: number
  alert: AlertDraft
  notes: string[]
}

/**
 * @param at place of a field
 * @throws Refusal
 */
export function partsOfAlert(given: LogflareAlert, at: (field: string) => Place): AlertParts {
  const all = Object.entries(given)
  const own = Object.fromEntries(all.filter(([field]) => Object.hasOwn(fields, field)))
  assertFields(own, fields, 'no field of Logflare’s alerts', at)
  const runs = runsOf(given.cron)
  if (!runs) throw new Refusal(at('cron'), `has the cron ${given.cron}: write it with five fields of numbers`)
  const every = durationOf(runs.minutes)
  const { channels, notes } = given.enabled === false ? whileOff : channelsOf(given)
  const { name, description } = given
  return {
    query: Object.fromEntries(all.filter(([field]) => !Object.hasOwn(fields, field))),
    seconds: runs.minutes * 60,
    alert: {
      content: {
        condition: { value: 'rows', above: 0 },
        every,
        repeat: every,
        text: `${(description || name).replaceAll(/[{}]/g, '').slice(0, 1_900)}: {{ rows }} rows`,
        channels: Object.keys(channels),
      },
      channels,
    },
    notes: [
      ...(runs.isEven ? [] : [`ran at ${given.cron}; here its alert is evaluated every ${every}`]),
      ...notes,
    ],
  }
}

const whileOff = { channels: {}, notes: ['was off in Logflare; here its alert tells no channel'] }

/** Addresses may be secrets, so the operator writes them where they belong. */
function channelsOf(alert: LogflareAlert): Pick<AlertDraft, 'channels'> & { notes: string[] } {
  const { slack_hook_url, webhook_notification_url, webhook_notification_headers, backends } = alert
  const name = fileName(alert.name)
  const variable = name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')
  const channels: AlertDraft['channels'] = {}
  const notes: string[] = []
  if (slack_hook_url) {
    channels[`${name}.slack`] = { kind: 'slack', secret: `${variable}_SLACK` }
    notes.push(`told its slack_hook_url: give the variable ${variable}_SLACK that address`)
  }
  if (webhook_notification_url) {
    const [url, secret] = ['(write webhook_notification_url here)', `${variable}_WEBHOOK`]
    channels[`${name}.webhook`] = { kind: 'webhook', url, secret }
    notes.push(
      `told its webhook_notification_url: write that into channels.yaml, and give the variable ${secret} a secret; the body is another one`,
    )
  }
  const headers = ((webhook_notification_headers ?? []) as { key?: unknown }[]).map(({ key }) => String(key))
  if (headers.length > 0) notes.push(`sent the headers ${headers.join(', ')}; here a signature is sent`)
  const others = ((backends ?? []) as Record<string, unknown>[]).map(({ name, type }) => String(name ?? type))
  if (others.length > 0) notes.push(`told Logflare’s backends ${others.join(', ')}: name a channel for each`)
  return { channels, notes }
}

interface Runs {
  /** The least time between two of them. */
  minutes: number
  /** Whether it is always the same. */
  isEven: boolean
}

/** When a cron runs on a day. @returns `null` for other forms than five fields of numbers */
function runsOf(cron: string): Runs | null {
  const [minute = '', hour = '', ...days] = cron.trim().split(/\s+/)
  const [minutes, hours] = [numbersIn(minute, 60), numbersIn(hour, 24)]
  if (!minutes || !hours || days.length !== 3) return null
  const runs = hours.flatMap(h => minutes.map(m => h * 60 + m)).toSorted((a, b) => a - b)
  const gaps = runs.map((run, at) => (runs[at + 1] ?? runs[0]! + 24 * 60) - run).filter(gap => gap > 0)
  const isEven = gaps.every(gap => gap === gaps[0]) && days.every(day => day === '*')
  return { minutes: Math.min(...gaps), isEven }
}

/** Such as `*`, `0,30`, `9-17` and `5/15`. */
function numbersIn(field: string, size: number): number[] | null {
  const parts = field.split(',').map(part => /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part))
  const numbers = parts.flatMap(part => {
    if (!part) return Number.NaN
    const [, first, last, step] = part
    const from = Number(first ?? 0)
    const to = Number(last ?? (first === undefined || step !== undefined ? size - 1 : from))
    const all = Array.from({ length: Math.max(to - from + 1, 0) }, (_, at) => from + at)
    return all.filter((_, at) => at % Number(step ?? 1) === 0)
  })
  return numbers.length > 0 && numbers.every(number => number < size) ? [...new Set(numbers)] : null
}

function durationOf(minutes: number): string {
  if (minutes % (24 * 60) === 0) return `P${minutes / (24 * 60)}D`
  return minutes % 60 === 0 ? `PT${minutes / 60}H` : `PT${minutes}M`
}
