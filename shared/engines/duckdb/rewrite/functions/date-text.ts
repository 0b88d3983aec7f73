/** Dates and times from and to text. */
import type { ScalarName } from '../../../../sql/types.ts'
import { asClock, asDate, asTime, clockText, momentOf, onSomeDay, wallClock } from '../clocks.ts'
import { coerce } from '../coercion.ts'
import { unsupported } from '../context.ts'
import { type Clock, formatClock, parseFormats } from './formats.ts'
import {
  argument,
  type CallSite,
  type FunctionRule,
  type FunctionTable,
  literalText,
  noMatch,
  signature,
} from './signature.ts'
import { quoteText } from '../../text.ts'
import { type Typed, typed } from '../typed.ts'

const clockTime = '%Y-%m-%d %H:%M:%S'

export const dateTextFunctions: FunctionTable = {
  FORMAT_DATE: formatting('DATE', asClock),
  FORMAT_DATETIME: formatting('DATETIME', clock => clock),
  FORMAT_TIME: formatting('TIME', onSomeDay),
  FORMAT_TIMESTAMP: formatTimestamp,
  PARSE_DATE: parsing('DATE', asDate),
  PARSE_DATETIME: parsing('DATETIME', clock => clock),
  PARSE_TIME: parsing('TIME', asTime),
  PARSE_TIMESTAMP: parseTimestamp,

  STRING: [
    signature(['TIMESTAMP'], 'STRING', moment => `(${clockText(wallClock(moment), clockTime)} || '+00')`),
    signature(['DATETIME'], 'STRING', clock => clockText(clock, clockTime)),
    signature(['DATE'], 'STRING', date => `CAST(${date} AS VARCHAR)`),
    signature(['TIME'], 'STRING', time => clockText(onSomeDay(time), '%H:%M:%S')),
  ],
}

function formatting(type: ScalarName, toClock: (sql: string) => string): FunctionRule {
  return site => {
    const value = applied(site, 1, type)
    return formatted(site, { sql: toClock(value), offset: null })
  }
}

function formatTimestamp(site: CallSite): Typed {
  const moment = applied(site, 1, 'TIMESTAMP')
  if (site.call.arguments.length < 3) return formatted(site, { sql: wallClock(moment), offset: '0' })
  const clock = wallClock(moment, argument(site, 2).sql)
  return formatted(site, { sql: clock, offset: `((epoch_us(${clock}) - epoch_us(${moment})) // 60000000)` })
}

function formatted(site: CallSite, clock: Clock): Typed {
  const result = formatClock(clock, literalText(site, site.call.arguments[0]))
  if ('unknown' in result) throw unsupported(site.context, site.call, `${result.unknown} in ${site.name}`)
  return typed(result.sql, 'STRING')
}

function parsing(type: ScalarName, fromClock: (sql: string) => string): FunctionRule {
  return site => typed(fromClock(parsed(site).sql), type)
}

function parseTimestamp(site: CallSite): Typed {
  const { sql, zoned } = parsed(site)
  const zone = site.call.arguments.length > 2 ? argument(site, 2).sql : null
  return typed(zoned ? sql : momentOf(sql, zone), 'TIMESTAMP')
}

function parsed(site: CallSite): { sql: string; zoned: boolean } {
  const result = parseFormats(literalText(site, site.call.arguments[0]))
  if ('unknown' in result) throw unsupported(site.context, site.call, `${result.unknown} in ${site.name}`)
  const formats = result.formats.map(quoteText).join(', ')
  return { sql: `strptime(${applied(site, 1, 'STRING')}, [${formats}])`, zoned: result.zoned }
}

/** An argument as a type. Throws SqlError if it is not of that type. */
function applied(site: CallSite, at: number, type: ScalarName): string {
  const value = argument(site, at)
  const coerced = coerce(value, { kind: type })
  if (!coerced) throw noMatch(site, [value])
  return coerced.sql
}
