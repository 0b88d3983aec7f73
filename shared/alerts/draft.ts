/** The file of an alert that is made on the page, with tests that say when it fires. */
import { type Condition, countOfRows, type Endpoint } from '../endpoints/definition.ts'
import { DefinitionError, refusalOf } from '../endpoints/definition-file.ts'
import type { Row } from '../engines/engine.ts'
import type { Column } from '../sql/types.ts'
import { yamlOf } from '../yaml-of.ts'
import { type AlertCase, alertFrom, type AlertFile } from './alert-file.ts'
import { evaluate } from './condition.ts'
import { alertFaults } from './faults.ts'

/** What a caller wants an alert to be, as its file has it. */
export interface AlertWish extends Pick<
  AlertFile,
  'condition' | 'every' | 'for' | 'severity' | 'text' | 'channels'
> {
  name: string
  /** Those that the endpoint has not are left out. */
  parameters: Record<string, string>
}

/**
 * @param columns of the endpoint's rows
 * @throws ApiError `invalid_parameter` for what no alert of the endpoint can have
 */
export function draftAlert(
  endpoint: Endpoint,
  { name, parameters, ...wish }: AlertWish,
  columns: Column[],
): string {
  const own = Object.entries(parameters).filter(([each]) => Object.hasOwn(endpoint.parameters, each))
  const file = { endpoint: endpoint.name, parameters: Object.fromEntries(own), ...wish }
  try {
    const { alert } = alertFrom(name, file)
    const faults = alertFaults(
      { alert, problem: (pointer, detail) => ({ pointer, detail }) },
      endpoint,
      columns,
    )
    if (faults.length > 0) throw new DefinitionError(faults)
    const tests = casesOf(alert.condition)
    return `# Made on the page.\n${yamlOf({ ...file, ...(tests.length > 0 ? { tests } : {}) })}`
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error
    throw refusalOf(error, 'name')
  }
}

/** Of more rows a test is no help to read. */
const mostRows = 10

/** One case in which it fires, and one in which it does not, as far as few rows can show it. */
function casesOf(condition: Condition): AlertCase[] {
  const { above, below } = condition
  const bound = above ?? below!
  const over = bound + Math.abs(bound) + 1
  const under = bound >= 0 && above !== undefined ? 0 : bound > 0 ? 0 : bound - Math.abs(bound) - 1
  const [firing, calm] = above === undefined ? [under, over] : [over, under]
  const cases = [
    { ...rowsWith(condition, firing), fires: true },
    { ...rowsWith(condition, calm), fires: false },
  ]
  return cases.filter(
    ({ rows, before, fires }) =>
      rows.length <= mostRows && (evaluate(condition, rows, before).finding === 'firing') === fires,
  )
}

/** Rows of which the condition reads about this value: at least as far from its bound. */
function rowsWith({ value, of, beforeMs }: Condition, wanted: number): { rows: Row[]; before?: Row[] } {
  const one = (times: number): Row[] => {
    if (value === countOfRows)
      return Array.from({ length: Math.min(Math.max(0, Math.ceil(times)), mostRows + 1) }, () => ({}))
    if (of === undefined) return [{ [value]: times }]
    return [{ [value]: Math.round(times * 100), [of]: 100 }]
  }
  return beforeMs === undefined ? { rows: one(wanted) } : { rows: one(wanted), before: one(1) }
}
