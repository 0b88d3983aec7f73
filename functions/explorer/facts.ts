/** How an answer came about: from where, how old, how much, how long each step took. */
import { el } from './dom.ts'
import type { Answer, Question } from './service.ts'

export function facts(
  { endpoint }: Question,
  { rows, truncated, redacted, headers, took }: Answer,
): HTMLElement {
  const age = headers.get('age')
  const made = headers.get('last-modified')
  const status = headers.get('cache-status') ?? ''
  const ignored = headers.get('x-ignored-parameters')
  return el(
    'div',
    { class: 'facts' },
    el(
      'dl',
      {},
      ...fact('Rows', String(rows.length)),
      ...fact('From', origin(status), status),
      ...(age === null || age === '0' ? [] : fact('Age', duration(Number(age)), made ?? undefined)),
      ...fact('Personal data', redacted ? 'redacted' : 'as it is'),
      ...fact('In all', `${Math.round(took)} ms`, 'from asking to the last byte'),
      ...steps(headers.get('server-timing')).flatMap(([step, time]) => fact(step, time)),
    ),
    truncated &&
      el('p', { class: 'notice' }, `There were more rows; the endpoint gives ${endpoint.maxRows} at most.`),
    ignored && el('p', { class: 'notice' }, `Ignored, as the endpoint does not declare it: ${ignored}.`),
  )
}

function fact(name: string, value: string, raw?: string): HTMLElement[] {
  return [el('div', { title: raw ?? null }, el('dt', {}, name), el('dd', {}, value))]
}

/** The header's words are for caches; these are for people, who find the header's on hover. */
function origin(status: string): string {
  if (/hit; ttl=-/.test(status)) return 'cache, being refreshed'
  if (status.includes('hit')) return 'cache'
  if (/fwd=stale; fwd-status/.test(status)) return 'an old copy, as the query failed'
  if (status.includes('collapsed')) return 'a run shared with others'
  if (status.includes('bypass')) return 'a run, not cached'
  return status.includes('stored') ? 'a run, now cached' : 'a run'
}

const stepNames: Record<string, string> = {
  auth: 'Key',
  cache: 'Cache and run',
  engine: 'Engine',
  redact: 'Redaction',
  encode: 'Encoding',
}

/** `Server-Timing: auth;dur=0.4, cache;dur=20` */
function steps(header: string | null): [name: string, time: string][] {
  return [...(header ?? '').matchAll(/([\w-]+);dur=([\d.]+)/g)].map(([, name, time]) => [
    stepNames[name!] ?? name!,
    `${Number(time) < 10 ? Number(time).toFixed(1) : Math.round(Number(time))} ms`,
  ])
}

function duration(seconds: number): string {
  if (seconds < 90) return `${seconds} s`
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`
}
