/**
 * Tinybird's templates in SQL, where a parameter says the same (https://www.tinybird.co/docs/forward/query-data/query-parameters):
 * `{{String(name, 'default')}}`, and `{% if defined(name) %} AND condition {% end %}`.
 */
import type { ParameterDefinition } from '../../../shared/endpoints/definition.ts'
import { type Place, placeOf } from '../../../shared/sql/error.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { tokenize } from '../../../shared/sql/tokens.ts'
import { Refusal } from './draft.ts'

export type Parameters = Map<string, { definition: ParameterDefinition; required: boolean; place: Place }>

const whole = (bits: number, isSigned: boolean) => ({
  type: 'integer' as const,
  minimum: isSigned ? -(2 ** (bits - 1)) : 0,
  ...(bits < 64 ? { maximum: 2 ** (isSigned ? bits - 1 : bits) - 1 } : {}),
})

/** A type's definition, and how its value is written in the SQL. */
const types: Record<string, { definition: ParameterDefinition; sql?: (name: string) => string }> = {
  String: { definition: { type: 'string' } },
  Float32: { definition: { type: 'number' } },
  Float64: { definition: { type: 'number' } },
  DateTime: { definition: { type: 'string', format: 'iso-timestamp' } },
  DateTime64: { definition: { type: 'string', format: 'iso-timestamp' } },
  Date: { definition: { type: 'string', format: 'iso-timestamp' }, sql: name => `DATE(@${name})` },
  Int64: { definition: { type: 'integer' } },
  UInt64: { definition: whole(64, false) },
  ...Object.fromEntries(
    [8, 16, 32].flatMap(bits => [
      [`Int${bits}`, { definition: whole(bits, true) }],
      [`UInt${bits}`, { definition: whole(bits, false) }],
    ]),
  ),
}

const tag = /\{\{(?<value>[^]*?)\}\}|\{%-?\s*(?<statement>[^]*?)\s*-?%\}|\{#[^]*?#\}/g
const guard = /^if\s+defined\(\s*(\w+)\s*\)$/

/**
 * The SQL with `@name` for each template, on the same lines.
 * @param parameters gets those that are found
 * @param placeIn the place in the file of one in the text
 * @throws Refusal
 */
export function withoutTemplates(
  text: string,
  parameters: Parameters,
  placeIn: (place: Place) => Place,
): string {
  const at = (offset: number) => placeIn(placeOf(text, offset))
  let sql = ''
  let from = 0
  /** How many parameters were written. */
  let written = 0
  /** The block that is open: its parameter, and where its SQL begins in `sql`. */
  let open: { name: string; start: number; offset: number } | null = null
  for (const match of text.matchAll(tag)) {
    sql += text.slice(from, match.index)
    from = match.index + match[0].length
    const { value, statement } = match.groups!
    const breaks = '\n'.repeat(match[0].split('\n').length - 1)
    if (value !== undefined) {
      sql += valueOf(value, open?.name ?? null, parameters, at(match.index)) + breaks
      written++
    } else if (statement !== undefined) {
      const name = guard.exec(statement)?.[1]
      if (name !== undefined && !open) open = { name, start: sql.length, offset: match.index }
      else if (/^end(if)?$/.test(statement) && open) {
        sql =
          sql.slice(0, open.start) +
          guarded(sql.slice(open.start), open.name, text.slice(from), at(open.offset))
        written++
        open = null
      } else
        throw new Refusal(
          at(match.index),
          `has {% ${statement} %}, which chooses SQL by a parameter: write an endpoint for each choice`,
        )
      sql += breaks
    } else sql += breaks
  }
  if (open) throw new Refusal(at(open.offset), 'has a block without {% end %}')
  sql += text.slice(from)
  const read = tokenize(sql).filter(({ kind }) => kind === 'parameter').length
  if (read < written) throw new Refusal(at(0), 'has a template in a text or a comment: write it outside')
  return sql
}

/** What may follow a condition, so that it ends with its block. */
const next = /^\s*(?:$|\)|;|\{%-?\s*if\b|(?:AND|GROUP|ORDER|HAVING|LIMIT|UNION)\b)/i

/** `AND condition` holds where its parameter is absent. */
function guarded(block: string, name: string, rest: string, place: Place): string {
  const [, before, condition, after] = /^(\s*AND\b)\s*([^]*?)(\s*)$/i.exec(block) ?? []
  if (condition === undefined || !next.test(rest))
    throw new Refusal(
      place,
      `has a block of ${name} that is more than AND and a condition: write that, or an endpoint for each choice`,
    )
  if (!isOneCondition(condition))
    throw new Refusal(
      place,
      `has a block of ${name} with OR, or with more than a condition: put it into parentheses`,
    )
  return `${before} (@${name} IS NULL OR (${condition}))${after}`
}

/** Whether the text is one expression whose outermost operator is not OR. */
function isOneCondition(condition: string): boolean {
  try {
    const { body, orderBy, limit } = parse(`SELECT 1 FROM t WHERE (${condition}\n)`)
    const { body: bare } = parse(`SELECT 1 FROM t WHERE ${condition}`)
    if (body.kind !== 'Select' || bare.kind !== 'Select' || orderBy.length > 0 || limit) return false
    const { where } = bare
    return !(where?.kind === 'Binary' && where.operator === 'OR')
  } catch {
    return false
  }
}

const call = /^\s*(\w+)\s*\(\s*(\w+)\s*([^]*)\)\s*$/
const argument =
  /^,\s*(?:(?<key>\w+)\s*=\s*)?(?:'(?<single>(?:[^'\\])*)'|"(?<double>(?:[^"\\])*)"|(?<number>-?\d+(?:\.\d+)?)|(?<flag>True|False|true|false))\s*/

/** @param guard the parameter of the block around it */
function valueOf(template: string, guard: string | null, parameters: Parameters, place: Place): string {
  const [, typeName = '', name = '', rest = ''] = call.exec(template) ?? []
  const shown = `{{${template.replaceAll(/\s+/g, ' ')}}}`
  const type = Object.hasOwn(types, typeName) ? types[typeName] : undefined
  if (!type || name === '')
    throw new Refusal(place, `has ${shown}, which is no parameter of a type that is known here`)
  const given = argumentsIn(rest)
  if (!given) throw new Refusal(place, `has ${shown}, whose arguments are more than texts and numbers`)
  const { default: preset, description, required } = given
  const isGuarded = guard === name
  if (preset === undefined && required !== true && !isGuarded)
    throw new Refusal(
      place,
      `has ${name} without a default: say what a call without it means by a default, required=True or {% if defined(${name}) %}`,
    )
  const definition: ParameterDefinition = {
    ...type.definition,
    ...(typeof description === 'string' ? { description } : {}),
    ...(preset === undefined || isGuarded ? {} : { default: preset }),
  }
  const before = parameters.get(name)
  const kind = ({ type, format, default: preset }: ParameterDefinition) =>
    JSON.stringify([type, format, preset])
  if (before && kind(before.definition) !== kind(definition))
    throw new Refusal(place, `has ${name} with another type or default than before`)
  parameters.set(name, {
    definition: { ...definition, ...before?.definition },
    required: (required === true && !isGuarded) || (before?.required ?? false),
    place,
  })
  return type.sql?.(name) ?? `@${name}`
}

/** The arguments behind the name; one without a key is the default. `null` for anything but literals. */
function argumentsIn(text: string): Record<string, string | number | boolean> | null {
  const found: Record<string, string | number | boolean> = {}
  for (let rest = text.replace(/,\s*$/, ''); rest.trim() !== '';) {
    const match = argument.exec(rest)
    if (!match) return null
    const { key = 'default', single, double, number, flag } = match.groups!
    found[key] = single ?? double ?? (number === undefined ? flag!.toLowerCase() === 'true' : Number(number))
    rest = rest.slice(match[0].length)
  }
  return found
}
