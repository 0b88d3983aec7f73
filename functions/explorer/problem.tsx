/** A problem in the service's own words, with advice. */
import { type Problem, tablesText } from '../../shared/errors.ts'
import type { ServiceError } from './service.ts'

interface Props {
  error: ServiceError
  /** Problems that stand beside no field. */
  others?: Problem[]
}

export function Failure({ error: { problem, retryAfter }, others = [] }: Props) {
  const { title, detail, code, requestId } = problem
  const more = others.map(other => placed(other, detail)).filter(Boolean)
  return (
    <section class="card failure" role="alert">
      <h3>{title}</h3>
      <p>{detail}</p>
      {more.map(text => (
        <p key={text}>{text}</p>
      ))}
      {retryAfter && <p>It can be asked again in {retryAfter} s.</p>}
      {code && advice[code] && <p>{advice[code]}</p>}
      {code && (
        <p class="hint">
          <code>{code}</code>
          {requestId && (
            <>
              {' · request '}
              <code>{requestId}</code>
            </>
          )}
        </p>
      )}
    </section>
  )
}

/** The place and detail that a problem adds to the text above it. */
function placed(problem: Problem, said: string): string {
  const { parameter, header, line, column, detail } = problem
  const place = line === undefined ? '' : `Line ${line}, column ${column}`
  const more = said.includes(detail) ? [place] : [place, parameter ?? header, detail]
  const text = more.filter(Boolean).join(': ')
  return [text && `${text}.`, tablesText(problem)].filter(Boolean).join(' ')
}

const advice: Partial<Record<string, string>> = {
  unauthenticated: 'The key may have expired or been revoked: press Change key and give another.',
  result_too_large: 'Ask for a shorter time, fewer columns, or a LIMIT.',
  bytes_limit_exceeded: 'Ask for a shorter time or fewer columns.',
  query_timeout: 'Ask for a shorter time, or try again.',
  engine_unavailable: 'This tends to pass by itself; try again in a moment.',
  store_unavailable: 'This tends to pass by itself; try again in a moment.',
  internal: 'The operator of the service finds the request in its log by the number below.',
}
