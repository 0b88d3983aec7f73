/** The parameters of calls that a definition names: its choices, examples and defaults. */
import type { Binding, Value } from '../engines/engine.ts'
import { type Endpoint, parameterColumns, type ParameterDefinition, type Scalar } from './definition.ts'
import { isoTimestamp, relativeTime } from './timestamps.ts'

/** More combinations than these are left out. */
const maxSamples = 24

/**
 * Combinations of the definition's choices, examples and defaults, and NULL for optional parameters.
 * @throws Error for a required parameter without any
 */
export function sampleSets(endpoint: Endpoint): Binding[][] {
  let sets: Binding[][] = [[]]
  for (const { name, type } of parameterColumns(endpoint)) {
    const definition = endpoint.parameters[name]!
    const optional: Value[] = endpoint.required.includes(name) ? [] : [null]
    const values = [...new Set([...samplesOf(definition), ...optional])]
    if (values.length === 0) throw new Error(`could not be compared: ${name} has neither enum nor examples`)
    sets = sets.flatMap(set => values.map(value => [...set, { name, type, value }])).slice(0, maxSamples)
  }
  return sets
}

/** The values that a definition names for a parameter; a relative time counts from now. */
export function samplesOf(definition: ParameterDefinition): (Scalar | null)[] {
  const { type, format, enum: choices, examples = [], default: preset } = definition
  if (choices) return choices
  const values: Scalar[] = [...(type === 'boolean' ? [true, false] : examples)]
  if (preset !== undefined) values.push(preset)
  if (format !== 'iso-timestamp') return values
  return values.map(String).map(text => isoTimestamp(text) ?? relativeTime(text, new Date()))
}
