/** What an address asks, in a line, in the words of the page. */
import { comparisonText } from './logs/compare.ts'
import { briefly, inBar, isOfZone, ranges } from './logs/range.ts'
import { addressOf, type Filter, initial, readFilter, type State } from './logs/state.ts'
import { type Link, readLink } from './address.ts'
import { type Parameter, parametersOf } from './service.ts'

/**
 * `errors in edge_logs, “timeout”, path = /rest, last 6 hours`; empty for the plain view.
 * @param parameters of the endpoint, of which two may be the ends of the range
 */
export function summaryOf(address: string, parameters: Parameter[] = []): string {
  const link = readLink(address)
  if (!link) return ''
  const { start = '', end = '' } = parametersOf({ parameters })
  const said = saidIn(link)
  const from = link.values[start]?.replace(/^-/, 'now-') ?? said('from')
  const range = rangeText(from, from === said('from') ? said('to') : link.values[end] || 'now', said('zone'))
  const own = Object.entries(link.values).filter(
    ([name, value]) => ![start, end].includes(name) && value !== '',
  )
  const values = own.map(([name, value]) => `${name} ${value}`)
  if (link.sql !== null)
    return [shortened(link.sql.replaceAll(/\s+/g, ' ')), range].filter(Boolean).join(', ')
  return shortened([...wordsOf(link), range, ...values].filter(Boolean).join(', '))
}

/** What narrows the entries. */
export const narrowing: readonly string[] = ['table', 'search', 'severity', 'where']

/** What a state of the logs asks, in a line, as far as these names of an address say it. */
export function aboutOf(state: State, names: readonly string[]): string {
  const none: State = { ...initial, values: {}, table: '', from: '-', to: '-', redact: state.redact }
  const view = addressOf(state, none).view.filter(([name]) => names.includes(name))
  const said = saidIn({ view })
  return [...wordsOf({ view }), rangeText(said('from'), said('to'), said('zone'))].filter(Boolean).join(', ')
}

/** What narrows the entries, and how they are shown; not in which time. */
function wordsOf(link: Pick<Link, 'view'>): string[] {
  const said = saidIn(link)
  const table = said('table')
  const place = table === undefined ? '' : table === '*' ? 'all tables' : table
  const severe = (said('severity') ?? '').split(',').filter(Boolean).map(severityText)
  const kinds = severe.join(' and ')
  const others = link.view.flatMap(([name, value]) => (value && wordsFor[name]?.(value)) || [])
  return [kinds && place ? `${kinds} in ${place}` : kinds || place, ...others].filter(Boolean)
}

/** What the address says last of a name. */
function saidIn({ view }: Pick<Link, 'view'>): (name: string) => string | undefined {
  return name => view.findLast(([other]) => other === name)?.[1]
}

const longest = 120

function shortened(text: string): string {
  return text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()} …`
}

const last = (path: string) => path.split('.').at(-1)!

const kindNames: Record<string, string> = { error: 'errors', warning: 'warnings', other: 'other entries' }

function severityText(severity: string): string {
  return kindNames[severity] ?? severity
}

/** The page's own words of an address, but of the kinds of entries, their table and their time. */
const wordsFor: Record<string, (value: string) => string> = {
  search: value => `“${value}”`,
  where: value => {
    const filter = readFilter(value)
    return filter ? filterWords(filter) : value
  },
  list: value => (value === 'new' ? 'new patterns' : value),
  measure: value => {
    const [kind, of = ''] = value.split(/:(.*)/s)
    if (kind !== 'share') return `${kind} ${last(of)}`
    const filter = readFilter(of)
    return `share of ${filter ? filterWords(filter) : severityText(of)}`
  },
  by: value => `by ${last(value)}`,
  compare: value => {
    const period = comparisonText(value as State['compare'])
    return period ? `compared with ${period}` : ''
  },
  sort: value => `sorted by ${last(value)}`,
  view: value => (value === 'alerts' ? 'alerts' : 'form'),
}

function filterWords({ path, operator, value }: Filter): string {
  const name = last(path)
  if (value === null) return operator === '=' ? `without ${name}` : `with ${name}`
  if (operator === '=~') return `${name} like ${value}`
  return operator === '!~' ? `${name} not like ${value}` : `${name} ${operator} ${value}`
}

const unitNames: Record<string, string> = {
  s: 'second',
  m: 'minute',
  h: 'hour',
  d: 'day',
  w: 'week',
  M: 'month',
  y: 'year',
}

function rangeText(from?: string, to?: string, zone = 'UTC'): string {
  if (from === undefined && to === undefined) return ''
  const written = { from: from ?? initial.from, to: to ?? initial.to }
  const listed = ranges.find(range => range.from === written.from && range.to === written.to)
  const of = isOfZone(written) && zone !== 'UTC' ? ` (${zone})` : ''
  if (listed) return `${listed.text.toLowerCase()}${of}`
  const [, count, unit = ''] = /^now-(\d+)([smhdwMy])$/.exec(written.from) ?? []
  if (count && written.to === 'now') return `last ${count} ${unitNames[unit]}${count === '1' ? '' : 's'}`
  const [first, end] = [inBar(written.from, 'UTC'), inBar(written.to, 'UTC')]
  return briefly(first || 'the first', end || 'the last') + of
}
