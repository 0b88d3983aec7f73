import type { RangeVariable, Scope } from './scope.ts'

/** What FROM, or a part of it, amounts to. */
export interface Source {
  /** DuckDB SQL that can stand in FROM. */
  sql: string
  /** More than one item: needs parentheses on the right of a join. */
  joined: boolean
  variables: RangeVariable[]
  merged: Scope['merged']
}

/** A scope that sees what a source brings as well. */
export function withSource(scope: Scope, { variables, merged }: Source): Scope {
  return {
    ...scope,
    variables: [...scope.variables, ...variables],
    merged: new Map([...scope.merged, ...merged]),
  }
}
