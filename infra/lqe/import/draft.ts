/** What a reader of another product's file makes: endpoints in our form, and what does not fit. */
import { isScalar, type Node } from 'yaml'
import { sha256 } from '../../../shared/key-text.ts'
import type { Place, SqlError } from '../../../shared/sql/error.ts'
import type { FileProblem, YamlDocument } from '../apply/yaml.ts'

/** An endpoint as it is going to be written, with places in the imported file. */
export interface Draft {
  name: string
  /** The content of `<name>.yaml`. */
  definition: Record<string, unknown>
  sql: string
  place: Place
  /** Where a value of the definition, by its JSON pointer, comes from. */
  placeOf(pointer: string): Place
  /** Where a place of the SQL is in the imported file. */
  placeOfSql(place: Place): SqlPlace
  /** Tables by other names: the name in the SQL, and what it is called at the origin. */
  origins: ReadonlyMap<string, string>
  /** What is otherwise here, without a change of rows. */
  notes: string[]
  /** An alert on its rows. */
  alert?: AlertDraft
}

export interface AlertDraft {
  /** Of `<name>.alert.yaml`, but for the endpoint's name. */
  content: Record<string, unknown>
  /** Of `channels.yaml`, by name. */
  channels: Record<string, object>
}

/** What a file may refer to. */
export interface Around {
  /** The texts of all the files. */
  texts: string[]
  environment: NodeJS.ProcessEnv
}

export interface Reading {
  drafts: Draft[]
  refused: FileProblem[]
}

/** Something that does not fit. The message says what to do. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly place: Place

  constructor(place: Place, message: string) {
    super(message)
    this.place = place
  }
}

/** The front end's words, at the place in the imported file. */
export function refusalOfSql(
  { message, place }: Pick<SqlError, 'message' | 'place'>,
  placeOfSql: Draft['placeOfSql'],
): Refusal {
  const { place: at, within } = placeOfSql(place ?? { line: 1, column: 1 })
  const where = within ? `line ${within.line}, column ${within.column} of its query: ` : ''
  return new Refusal(at, where + message)
}

/** Types of fields, by the words of messages. */
interface Values {
  string: string
  number: number
  boolean: boolean
  list: unknown[]
  map: Record<string, unknown>
  any: unknown
}

export type FieldType = keyof Values

/** An object whose fields a table has, as `assertFields` lets it pass. */
export type WithFields<Fields extends Record<string, FieldType>> = {
  [Name in keyof Fields]?: Values[Fields[Name]] | null
}

/**
 * A field that is null counts as absent.
 * @param fields those that an object may have
 * @param words why it has no other
 * @throws Refusal
 */
export function assertFields(
  value: object,
  fields: Record<string, FieldType>,
  words: string,
  at: (field: string, ofName?: boolean) => Place,
): void {
  for (const [field, content] of Object.entries(value) as [string, unknown][]) {
    if (content === null) continue
    const type = Object.hasOwn(fields, field) ? fields[field] : undefined
    if (!type) throw new Refusal(at(field, true), `has ${field}, ${words}`)
    if (type !== 'any' && typeOf(content) !== type)
      throw new Refusal(at(field), `has ${field} that is no ${type}`)
  }
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'list'
  return typeof value === 'object' ? 'map' : typeof value
}

/** What each `read` makes; the others are refused, with their name. */
export function collect<T extends { name: string }>(
  file: string,
  found: T[],
  read: (one: T) => Draft | null,
): Reading {
  const reading: Reading = { drafts: [], refused: [] }
  for (const one of found)
    try {
      const draft = read(one)
      if (draft) reading.drafts.push(draft)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      reading.refused.push({ file, ...error.place, detail: `${one.name}: ${error.message}` })
    }
  return reading
}

/**
 * The name of an endpoint's files for what it is called at its origin, where names have capitals, blanks and digits first: the same at
 * each import.
 */
export function fileName(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[-._]+|[-._]+$/g, '')
  const text = plain || sha256(name).slice(0, 8)
  return (/^[a-z]/.test(text) && !/^[0-9a-f]{8}-/.test(text) ? text : `e-${text}`).slice(0, 100)
}

/** `within`: the place is that of the whole text, and this is the one in the SQL. */
export interface SqlPlace {
  place: Place
  within: Place | null
}

/** Where SQL in a scalar of YAML or JSON is. Escapes and folded lines move what is behind them. */
export function sqlPlaces(
  { document, placeIn }: YamlDocument,
  pointer: string,
  text: string,
): (place: Place) => SqlPlace {
  const node = document.getIn(pointer.split('/').slice(1), true) as Node | undefined
  const start = placeIn(pointer)
  if (isScalar(node) && node.type === 'BLOCK_LITERAL') {
    const lines = text.slice(node.range![0]).split('\n').slice(1)
    const indent = /^ */.exec(lines.find(line => line.trim() !== '') ?? '')![0].length
    return ({ line, column }) => ({
      place: { line: start.line + line, column: column + indent },
      within: null,
    })
  }
  const quotes = isScalar(node) && node.type === 'PLAIN' ? 0 : 1
  const isPlain = isScalar(node) && node.source === node.value && !String(node.value).includes('\n')
  return place =>
    isPlain
      ? { place: { line: start.line, column: start.column + quotes + place.column - 1 }, within: null }
      : { place: start, within: place }
}
