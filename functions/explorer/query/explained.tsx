/** How an endpoint's calls are answered: its queries and roll-ups with their SQL, as `lqe apply --explain` prints them. */
import { useSignal } from '@preact/signals'
import type { ExplainedPart } from '../../../shared/warm/explain.ts'
import { format } from '../../../shared/sql/format.ts'
import { Failure } from '../problem.tsx'
import { type Endpoint, explainEndpoint, ServiceError } from '../service.ts'

/** Folded; read each time that it is opened. For keys that may see SQL. */
export function Explained({ apiKey, endpoint }: { apiKey: string; endpoint: Endpoint }) {
  const found = useSignal<ExplainedPart[] | ServiceError | null>(null)
  const read = async () => {
    found.value = null
    found.value = await explainEndpoint(apiKey, endpoint).catch((error: unknown) => {
      if (error instanceof ServiceError) return error
      throw error
    })
  }
  const parts = found.value
  return (
    <details class="sql-fold" onToggle={({ currentTarget }) => currentTarget.open && void read()}>
      <summary>How it is answered</summary>
      <section>
        {parts === null ? (
          'Reading …'
        ) : parts instanceof ServiceError ? (
          <Failure error={parts} />
        ) : (
          parts.map(part => <Part key={part.title} {...part} />)
        )}
      </section>
    </details>
  )
}

function Part({ title, sql, made, notes }: ExplainedPart) {
  return (
    <>
      <h3>{title}</h3>
      {notes.map(note => (
        <p key={note}>{note}</p>
      ))}
      <pre tabIndex={0} aria-label={`SQL: ${title}`}>
        {made ? format(sql) : sql}
      </pre>
    </>
  )
}
