/** The SQL of the rows, to be copied and gone on from. */
import { Button, Copy } from '../controls.tsx'
import type { Store } from './store.ts'

export function Sql({ store, edit }: { store: Store; edit(sql: string): void }) {
  const { sql } = store
  return (
    <details class="sql-fold">
      <summary>SQL</summary>
      <pre tabIndex={0} aria-label="SQL of these rows">
        {sql.value}
      </pre>
      <div>
        <Copy name="Copy SQL" text={() => sql.value} />
        <Button press={() => edit(sql.value)}>Continue in SQL</Button>
      </div>
    </details>
  )
}
