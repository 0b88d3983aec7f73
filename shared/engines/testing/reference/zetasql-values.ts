/** Values and types between the engine port and the reference's protocol buffers (`zetasql/public/value.proto`). */
import { type Column, type ScalarName, scalarNames, type SqlType } from '../../../sql/types.ts'
import type { Row, Value } from '../../engine.ts'
import { intervalText } from '../../duckdb/udfs/interval.ts'
import { element, fieldName, integer, parseExactJson, withoutZeros } from '../../values.ts'

/** NULL has no field set; inside a value, a field that is zero may be absent. */
export interface ValueProto {
  int64Value?: string
  boolValue?: boolean
  doubleValue?: number
  stringValue?: string
  bytesValue?: Buffer
  dateValue?: number
  timestampValue?: { seconds?: string | number; nanos?: number }
  datetimeValue?: { bitFieldDatetimeSeconds: string; nanos?: number }
  timeValue?: string
  numericValue?: Buffer
  bignumericValue?: Buffer
  jsonValue?: string
  intervalValue?: Buffer
  arrayValue?: { element?: ValueProto[] }
  structValue?: { field?: ValueProto[] }
}

interface ProtoType {
  typeKind: string
  arrayType?: { elementType: ProtoType }
  structType?: { field?: { fieldName: string; fieldType: ProtoType }[] }
}

export interface ProtoColumn {
  name: string
  type: ProtoType
}

const protoKinds: Partial<Record<ScalarName, string>> = { FLOAT64: 'TYPE_DOUBLE' }

export function protoType(type: SqlType): ProtoType {
  if (type.kind === 'ARRAY')
    return { typeKind: 'TYPE_ARRAY', arrayType: { elementType: protoType(type.element) } }
  if (type.kind !== 'STRUCT') return { typeKind: protoKinds[type.kind] ?? `TYPE_${type.kind}` }
  const field = type.fields.map(({ name, type: inner }) => ({
    fieldName: name ?? '',
    fieldType: protoType(inner),
  }))
  return { typeKind: 'TYPE_STRUCT', structType: { field } }
}

function typeOf({ typeKind, arrayType, structType }: ProtoType): SqlType {
  if (arrayType) return { kind: 'ARRAY', element: typeOf(arrayType.elementType) }
  if (structType) {
    const fields = (structType.field ?? []).map(field => ({
      name: field.fieldName || null,
      type: typeOf(field.fieldType),
    }))
    return { kind: 'STRUCT', fields }
  }
  const kind = scalarNames.find(name => (protoKinds[name] ?? `TYPE_${name}`) === typeKind)
  if (!kind) throw new Error(`the type ${typeKind} has no value form`)
  return { kind }
}

/** A result's column; one without a name is `f0_`, `f1_`, ... as BigQuery names it. */
export function columnOf({ name, type }: ProtoColumn, at: number, all: ProtoColumn[]): Column {
  const unnamed = all.slice(0, at).filter(column => column.name === '').length
  return { name: name || `f${unnamed}_`, type: typeOf(type) }
}

/** A row of a result in the forms of the engine port. Throws EngineError for a NULL in an array. */
export function rowOf(columns: Column[], cells: ValueProto[]): Row {
  return Object.fromEntries(columns.map(({ name, type }, at) => [name, decode(type, cells[at] ?? {})]))
}

function decode(type: SqlType, proto: ValueProto): Value {
  if (type.kind === 'ARRAY')
    return (proto.arrayValue?.element ?? []).map(item => element(decode(type.element, item)))
  if (type.kind === 'STRUCT') {
    const values = proto.structValue?.field ?? []
    if (!proto.structValue) return null
    return Object.fromEntries(
      type.fields.map((field, at) => [fieldName(field.name, at), decode(field.type, values[at] ?? {})]),
    )
  }
  const { read } = forms[type.kind]
  return read(proto) ?? null
}

export function encode(type: SqlType, value: Value): ValueProto {
  if (value === null) return {}
  if (type.kind === 'ARRAY')
    return { arrayValue: { element: (value as Value[]).map(item => encode(type.element, item)) } }
  if (type.kind !== 'STRUCT')
    return typeof value === 'object' ? readOnly() : forms[type.kind].write(String(value))
  const fields = value as Record<string, Value>
  return {
    structValue: {
      field: type.fields.map((field, at) => encode(field.type, fields[fieldName(field.name, at)] ?? null)),
    },
  }
}

interface Form {
  /** Undefined for NULL. */
  read(proto: ValueProto): Value | undefined
  /** From the value's text: a TIMESTAMP is ISO text here, as in a binding. */
  write(text: string): ValueProto
}

const readOnly = (): never => {
  throw new Error('no table or parameter of this corpus has this type')
}

const day = 86_400_000

const forms: Record<ScalarName, Form> = {
  BIGNUMERIC: { read: ({ bignumericValue }) => decimal(bignumericValue, 38), write: readOnly },
  BOOL: { read: ({ boolValue }) => boolValue, write: text => ({ boolValue: text === 'true' }) },
  BYTES: {
    read: ({ bytesValue }) => bytesValue?.toString('base64'),
    write: text => ({ bytesValue: Buffer.from(text, 'base64') }),
  },
  DATE: {
    read: ({ dateValue }) => (dateValue === undefined ? undefined : iso(dateValue * day).slice(0, 10)),
    write: text => ({ dateValue: Date.parse(`${text}Z`.replace(/(-\d\d)Z$/, '$1')) / day }),
  },
  DATETIME: { read: ({ datetimeValue }) => datetime(datetimeValue), write: writeDatetime },
  FLOAT64: {
    read: ({ doubleValue }) =>
      doubleValue === undefined || Number.isFinite(doubleValue) ? doubleValue : String(doubleValue),
    write: text => ({ doubleValue: Number(text) }),
  },
  INT64: {
    read: ({ int64Value }) => (int64Value === undefined ? undefined : integer(int64Value)),
    write: text => ({ int64Value: text }),
  },
  INTERVAL: { read: ({ intervalValue }) => interval(intervalValue), write: readOnly },
  JSON: {
    read: ({ jsonValue }) => (jsonValue === undefined ? undefined : parseExactJson(jsonValue)),
    write: text => ({ jsonValue: text }),
  },
  NUMERIC: { read: ({ numericValue }) => decimal(numericValue, 9), write: writeNumeric },
  STRING: { read: ({ stringValue }) => stringValue, write: text => ({ stringValue: text }) },
  TIME: { read: ({ timeValue }) => time(timeValue), write: writeTime },
  TIMESTAMP: {
    read: ({ timestampValue: value }) =>
      value && integer(BigInt(value.seconds ?? 0) * 1_000_000n + BigInt(value.nanos ?? 0) / 1000n),
    write: writeTimestamp,
  },
}

const iso = (ms: number) => new Date(ms).toISOString()

/** A two's complement number, the least byte first, of which the last `scale` decimal digits are a fraction. */
function decimal(bytes: Buffer | undefined, scale: number): string | undefined {
  if (!bytes) return undefined
  const unsigned = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex') || '0'}`)
  const value = BigInt.asIntN(bytes.length * 8, unsigned)
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0')
  const text = withoutZeros(`${digits.slice(0, -scale)}.${digits.slice(-scale)}`)
  return value < 0n ? `-${text}` : text
}

function writeNumeric(text: string): ValueProto {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)\.?(\d*)$/.exec(text)!
  const value = BigInt(`${sign}${whole}${fraction.padEnd(9, '0')}`)
  const hex = BigInt.asUintN(128, value).toString(16).padStart(32, '0')
  return { numericValue: Buffer.from(hex, 'hex').reverse() }
}

/** The bits of the date and time, each part in its own, seconds last. */
function datetime(value: ValueProto['datetimeValue']): string | undefined {
  if (!value) return undefined
  const bits = BigInt(value.bitFieldDatetimeSeconds)
  const part = (shift: bigint, width: bigint) => Number((bits >> shift) & ((1n << width) - 1n))
  const date = [part(26n, 14n), part(22n, 4n), part(17n, 5n)]
  const clock = [part(12n, 5n), part(6n, 6n), part(0n, 6n)]
  return `${padded(date[0]!, 4)}-${padded(date[1]!)}-${padded(date[2]!)}T${clock.map(n => padded(n)).join(':')}${fraction(value.nanos ?? 0)}`
}

function writeDatetime(text: string): ValueProto {
  const [, date, clock, digits = ''] = /^(\d+-\d+-\d+)T(\d+:\d+:\d+)\.?(\d*)$/.exec(text)!
  const [year, month, days] = date!.split('-').map(BigInt)
  const bits = (year! << 26n) | (month! << 22n) | (days! << 17n) | clockBits(clock!)
  return {
    datetimeValue: { bitFieldDatetimeSeconds: String(bits), nanos: Number(digits.padEnd(9, '0')) },
  }
}

function time(value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  const bits = BigInt(value)
  const nanos = Number(bits & ((1n << 30n) - 1n))
  const clock = [42n, 36n, 30n].map(shift => padded(Number((bits >> shift) & 63n)))
  return clock.join(':') + fraction(nanos)
}

function writeTime(text: string): ValueProto {
  const [clock, digits = ''] = text.split('.')
  return { timeValue: String((clockBits(clock!) << 30n) | BigInt(digits.padEnd(9, '0'))) }
}

function clockBits(clock: string): bigint {
  const [hours, minutes, seconds] = clock.split(':').map(BigInt)
  return (hours! << 12n) | (minutes! << 6n) | seconds!
}

function writeTimestamp(text: string): ValueProto {
  const [, seconds, digits = ''] = /^(.*?)(?:\.(\d+))?Z$/.exec(text)!
  return {
    timestampValue: { seconds: Date.parse(`${seconds}Z`) / 1000, nanos: Number(digits.padEnd(9, '0')) },
  }
}

/** Microseconds in 8 bytes, days in 4, and in 4 more the months from bit 13, with their sign in bit 31. */
function interval(bytes: Buffer | undefined): string | undefined {
  if (!bytes) return undefined
  const micros = bytes.readBigInt64LE(0)
  const days = bytes.readInt32LE(8)
  const rest = bytes.readUInt32LE(12)
  const months = ((rest >>> 13) & 0x3ffff) * (rest >>> 31 ? -1 : 1)
  return intervalText({ months, days, micros })
}

const padded = (value: number, digits = 2) => String(value).padStart(digits, '0')

/** `.5` for half a second in nanoseconds, nothing for none. */
function fraction(nanos: number): string {
  return nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`
}
