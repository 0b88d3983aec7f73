/** An alert from its file, checked by `alert.schema.json` and by what a schema cannot say. */
import { DefinitionError, faultOfName, millisecondsOf, readerOf } from '../endpoints/definition-file.ts'
import type { Row } from '../engines/engine.ts'
import { type Alert, type Condition, countOfRows, type Severity } from '../endpoints/definition.ts'
import schema from './alert.schema.json' with { type: 'json' }

/** The shape of `<name>.alert.yaml`, after the schema has filled in its defaults. */
export interface AlertFile {
  endpoint: string
  parameters: Alert['sets'][number] | Alert['sets']
  condition: Omit<Condition, 'beforeMs'> & { before?: string }
  every?: string
  for?: string
  repeat?: string
  severity: Severity
  text: string
  channels: string[]
  redact: boolean
  tests: AlertCase[]
}

/** Rows of the endpoint, and what the alert makes of them. */
export interface AlertCase {
  name?: string
  rows: Row[]
  /** Of the window before; absent = none. */
  before?: Row[]
  fires: boolean
  /** Absent = any. */
  text?: string
}

const readFile = readerOf(schema) as (content: unknown) => AlertFile

const minuteMs = 60_000

/**
 * @param name the file's name without its ending
 * @param content the parsed YAML
 * @throws DefinitionError
 */
export function alertFrom(
  name: string,
  content: unknown,
): { endpoint: string; alert: Alert; tests: AlertCase[] } {
  const fault = faultOfName(name)
  if (fault !== null) throw new DefinitionError([{ pointer: '', detail: fault }])
  const file = readFile(structuredClone(content))
  const { endpoint, parameters, severity, text, channels, redact, tests } = file
  const alert = {
    name,
    sets: Array.isArray(parameters) ? parameters : [parameters],
    condition: conditionOf(file.condition),
    everyMs: intervalIn(file, 'every'),
    forMs: file.for === undefined ? 0 : millisecondsOf(file.for),
    repeatMs: intervalIn(file, 'repeat'),
    severity,
    text,
    channels,
    redact,
  }
  return { endpoint, alert, tests }
}

function conditionOf({ before, ...condition }: AlertFile['condition']): Condition {
  if (condition.of !== undefined && condition.value === countOfRows)
    throw new DefinitionError([{ pointer: '/condition/of', detail: 'divides a column, not the rows' }])
  if (before === undefined) return condition
  return { ...condition, beforeMs: positive('/condition/before', before) }
}

function intervalIn(file: AlertFile, field: 'every' | 'repeat'): number | null {
  const duration = file[field]
  return duration === undefined ? null : positive(`/${field}`, duration)
}

/** Schedulers call once a minute at most. */
function positive(pointer: string, duration: string): number {
  const ms = millisecondsOf(duration)
  if (ms < minuteMs) throw new DefinitionError([{ pointer, detail: 'must be a minute at least: PT1M' }])
  return ms
}
