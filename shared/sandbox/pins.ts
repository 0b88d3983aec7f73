/**
 * A key may fix parameters, so that its holder sees the rows of one project only. The holder's own SQL keeps to that
 * only if every table of the endpoint filters by the pin, which the endpoint's tree shows. A condition counts only
 * in the plain forms of `shared/sandbox/README.md`, "Pins": OR, NOT, COALESCE(@pin, ...), searches such as
 * REGEXP_CONTAINS and LIKE, functions of a column, ON and HAVING let other rows pass, or may.
 */
import type { Endpoint } from '../endpoints/definition.ts'
import { ApiError } from '../errors.ts'
import { Lineage, tablesOfFrom } from '../sql/tables.ts'
import type { Resolution } from '../sql/resolve/resolution.ts'
import type { Exists, Expression, From, Select, TableReference } from '../sql/tree.ts'
import { conjuncts, descendants, parameterNames } from '../sql/walk.ts'
import { tablesOfEndpoint } from './offered-tables.ts'

/**
 * Passes if every table of the endpoint filters by every pinned parameter.
 * @throws ApiError `sandbox_violation` with the first table and parameter for which that is not so
 */
export function assertPinsHold(endpoint: Pick<Endpoint, 'sql'>, pins: Record<string, string>): void {
  const { byKey, resolution } = tablesOfEndpoint(endpoint)
  const lineage = new Lineage(resolution)
  for (const pin of Object.keys(pins)) {
    const filter: PinFilter = { pin, resolution, lineage }
    for (const { name, cte } of byKey.values()) {
      const isOpen = [...descendants(cte)].some(node => node.kind === 'Select' && !covers(filter, node))
      if (!isOpen) continue
      const how = parameterNames(cte.query).has(pin)
        ? ' with column = @' + pin + ', which alone confines'
        : ''
      const reason = `this endpoint's table ${name} does not filter by it${how}`
      const detail = `The API key fixes @${pin}, and ${reason}: SQL of your own could read other rows with it.`
      throw new ApiError('sandbox_violation', detail)
    }
  }
}

interface PinFilter {
  pin: string
  resolution: Resolution
  lineage: Lineage
}

/**
 * Whether a SELECT filters each real table of its own FROM. That is enough, as it is asked of every SELECT: all other rows
 * come from those, or from the endpoint's tables, each of which is checked in the same way.
 */
function covers(filter: PinFilter, { from, where }: Select): boolean {
  const filtered = new Set(filteredBy(filter, where))
  return !from || tablesOfFrom(from, filter.resolution).every(table => filtered.has(table))
}

/** The tables whose rows are filtered by one of the conditions that AND joins. */
function filteredBy(filter: PinFilter, where: Expression | null): TableReference[] {
  return conjuncts(where).flatMap(condition => {
    if (condition.kind === 'Binary' && condition.operator === '=') {
      const { left, right } = condition
      return [...comparedWithPin(filter, left, right), ...comparedWithPin(filter, right, left)]
    }
    const select = condition.kind === 'Exists' ? plainSelect(condition) : null
    return select?.from && isArrays(select.from) ? filteredBy(filter, select.where) : []
  })
}

/** A name may be of several rows, where their columns are not known: it counts if all of them are of one table. */
function comparedWithPin(
  { pin, lineage }: PinFilter,
  column: Expression,
  value: Expression,
): TableReference[] {
  const isPin = value.kind === 'ParameterReference' && value.name === pin
  const table = isPin ? lineage.tableOf(column) : null
  return table ? [table] : []
}

/** `SELECT 1 FROM ... WHERE ...` and no more: COUNT(*), for one, gives a row even where WHERE lets none pass. */
function plainSelect({ query }: Exists): Select | null {
  const { with: common, body, orderBy, limit } = query
  if (common || orderBy.length > 0 || limit || body.kind !== 'Select') return null
  const { items, groupBy, having, qualify } = body
  const constant = items.every(item => item.kind === 'SelectColumn' && item.expression.kind === 'Literal')
  return constant && !groupBy && !having && !qualify ? body : null
}

/** UNNEST and no other source: a subquery could make rows of others with the pinned value. */
function isArrays(from: From): boolean {
  if (from.kind === 'Join') return isArrays(from.left) && isArrays(from.right)
  return from.kind === 'UnnestReference'
}
