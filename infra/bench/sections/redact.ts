/**
 * Redacting 1,000 rows of log metadata against walking them, and against two plain regular expressions.
 */
import type { Value } from '../../../shared/engines/engine.ts'
import { redactRows } from '../../../shared/redact/redact.ts'
import { alternately, compared, cpuOfThis, type Measurement } from '../measure.ts'
import { logRows, type Site } from '../site.ts'

const rounds = 31
/** Times that each turn takes the rows: CPU time is counted in coarse steps. */
const times = 5

/** CPU of this process. The two expressions find far less, so against them there is no target. */
export async function redact(site: Site): Promise<Measurement[]> {
  const { rows } = await logRows(site, 1000)
  const taking = (act: () => unknown) => () =>
    cpuOfThis(() => {
      for (let time = 0; time < times; time++) act()
    })
  const turns = {
    redacting: taking(() => redactRows(rows)),
    walking: taking(() => mapped(rows, text => text)),
    matching: taking(() =>
      mapped(rows, text => text.replace(address, 'REDACTED').replace(email, 'REDACTED')),
    ),
  }
  const { redacting, walking, matching } = await alternately(rounds, turns, 10)
  const name = `redacting ${rows.length} rows`
  const unit = `ms CPU for ${times} times`
  return [
    compared(`${name}: walking and copying them`, { ours: redacting, theirs: walking, unit, bound: 2 }),
    compared(`${name}: two regular expressions`, { ours: redacting, theirs: matching, unit, bound: null }),
  ]
}

const address = /\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b/g
const email = /\b[\w.+-]+@[\w-]+\.[\w.-]+\b/g

/** A copy with each string passed through a function. */
function mapped(value: Value, change: (text: string) => string): Value {
  if (typeof value === 'string') return change(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(item => mapped(item, change))
  const copy: { [field: string]: Value } = {}
  for (const name in value) copy[name] = mapped(value[name]!, change)
  return copy
}
