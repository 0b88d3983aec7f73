/** What one run of an endpoint would read, from dry runs: what an operator wants to know before callers do. */
import type { Binding, QueryEngine } from '../../../shared/engines/engine.ts'
import { type Endpoint, typeOf } from '../../../shared/endpoints/definition.ts'

export interface Estimate {
  /** `interval=daily`, or empty for an endpoint without choices. */
  choice: string
  /** `null` where the engine makes no estimate. */
  bytes: number | null
}

/** One estimate for each choice of the first parameter that has some: windows differ by it. @throws EngineError */
export async function estimate(endpoint: Endpoint, engine: QueryEngine): Promise<Estimate[]> {
  const [name, definition] =
    Object.entries(endpoint.parameters).find(([, { enum: choices }]) => choices) ?? []
  const choices = name === undefined ? [undefined] : (definition?.enum ?? [])
  return Promise.all(
    choices.map(async choice => {
      const bindings = examples(endpoint).map(binding =>
        binding.name === name && choice !== undefined ? { ...binding, value: choice } : binding,
      )
      const { bytes } = await engine.describe({ sql: endpoint.sql, bindings })
      return { choice: name === undefined ? '' : `${name}=${choice}`, bytes }
    }),
  )
}

/** A line for people, such as `usage.api-counts interval=daily reads about 1.5 GB`. */
export function estimateLine({ name }: Endpoint, { choice, bytes }: Estimate): string {
  const subject = choice === '' ? name : `${name} ${choice}`
  return bytes === null
    ? `${subject}: the engine makes no estimate`
    : `${subject} reads about ${amount(bytes)}`
}

/** The definition's own examples, and NULL where it has none. */
function examples(endpoint: Endpoint): Binding[] {
  return Object.entries(endpoint.parameters).map(([name, definition]) => ({
    name,
    type: typeOf(definition),
    value: definition.examples?.[0] ?? definition.enum?.[0] ?? definition.default ?? null,
  }))
}

function amount(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB']
  const unit = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1)
  return `${(bytes / 1000 ** unit).toFixed(unit === 0 ? 0 : 1)} ${units[unit]}`
}
