/** What went wrong, in the service's own words, and what can be done. */
import type { Problem } from '../../shared/errors.ts'
import { el } from './dom.ts'
import type { Refused } from './service.ts'

/** @param left problems that stand beside no field */
export function failure({ problem, retryAfter }: Refused, left: Problem[]): HTMLElement {
  const { title, detail, code, requestId } = problem
  return el(
    'section',
    { class: 'card failure', role: 'alert' },
    el('h3', {}, title),
    el('p', {}, detail),
    ...left.map(other => placed(other, detail)).map(text => text && el('p', {}, text)),
    retryAfter && el('p', {}, `It can be asked again in ${retryAfter} s.`),
    code && advice[code] ? el('p', {}, advice[code]) : null,
    code &&
      el(
        'p',
        { class: 'hint' },
        el('code', {}, code),
        requestId ? ' · request ' : null,
        requestId ? el('code', {}, requestId) : null,
      ),
  )
}

/** What a problem adds to what was said already. */
function placed({ parameter, header, line, column, detail }: Problem, said: string): string {
  const place = line === undefined ? '' : `Line ${line}, column ${column}`
  if (said.includes(detail)) return place && `${place}.`
  return `${[place, parameter ?? header, detail].filter(Boolean).join(': ')}.`
}

const advice: Partial<Record<string, string>> = {
  unauthenticated: 'The key may have expired or been revoked: press Change key and give another.',
  result_too_large: 'Ask for a shorter time, fewer columns, or a LIMIT.',
  bytes_limit_exceeded: 'Ask for a shorter time or fewer columns.',
  query_timeout: 'Ask for a shorter time, or try again.',
  engine_unavailable: 'This tends to pass by itself; try again in a moment.',
  store_unavailable: 'This tends to pass by itself; try again in a moment.',
  internal: 'Whoever runs the service finds the request in its log by the number below.',
}
