/** Redacting 1,000 rows of log metadata against two plain regular expressions over the same texts. */
import type { Value } from '../../../shared/engines/engine.ts'
import { redactRows } from '../../../shared/redact/redact.ts'
import { alternately, compared, cpuOfThis, type Measurement } from '../measure.ts'
import { logRows, type Site } from '../site.ts'
import { targets } from '../targets.ts'

const rounds = 15
/** Times that each turn takes the rows: CPU time is counted in coarse steps. */
const times = 2

/** CPU of this process. The two expressions find far less. */
export async function redact(site: Site): Promise<Measurement[]> {
  const { rows } = await logRows(site, 1000)
  const taking = (act: () => unknown) => () =>
    cpuOfThis(() => {
      for (let time = 0; time < times; time++) act()
    })
  const turns = {
    redacting: taking(() => redactRows(rows)),
    matching: taking(() =>
      mapped(rows, text => text.replace(address, 'REDACTED').replace(email, 'REDACTED')),
    ),
  }
  const { redacting, matching } = await alternately(rounds, turns, 3)
  const unit = `ms CPU for ${times} times`
  return [compared(targets.redact, { ours: redacting, theirs: matching, unit })]
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
