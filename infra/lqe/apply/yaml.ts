/** YAML files with places in them, and problems of files as compilers print them. */
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  LineCounter,
  type Node,
  parseAllDocuments,
  parseDocument,
  type ToStringOptions,
  visit,
} from 'yaml'
import { DefinitionError } from '../../../shared/endpoints/definition-file.ts'
import { isDeepValue, tooDeep } from '../../../shared/nesting.ts'
import { readText } from '../path.ts'
import { visible, visibleJson } from '../../../shared/visible-text.ts'

/** A problem in a file, as compilers print it. */
export interface FileProblem {
  file: string
  line: number
  column: number
  detail: string
}

/** All problems of the files that were read, a line for each in the message, which `lqe` prints. */
export class QueriesError extends Error {
  override readonly name = 'QueriesError'
  readonly problems: FileProblem[]

  constructor(problems: FileProblem[]) {
    super(problems.map(({ file, line, column, detail }) => `${file}:${line}:${column} ${detail}`).join('\n'))
    this.problems = problems
  }

  /** @throws QueriesError where there are problems */
  static assertNone(problems: FileProblem[]): void {
    if (problems.length > 0) throw new QueriesError(problems)
  }

  /** What `read` makes; `null` where it throws problems, which are added to those of before. */
  static gather<T>(problems: FileProblem[], read: () => T): T | null {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof QueriesError)) throw error
      problems.push(...error.problems)
      return null
    }
  }
}

/** Line and column of the value at a JSON pointer, or of its name, or of the nearest thing around it. */
export type PlaceInYaml = (pointer: string, ofName?: boolean) => { line: number; column: number }

/** Makes a problem of the value, or of its name, at a JSON pointer. */
export type ProblemAt = (pointer: string, detail: string, ofName?: boolean) => FileProblem

/** The text of a document, its hidden characters as escapes of quoted texts. */
export function yamlText(document: Document, options: ToStringOptions): string {
  visit(document, {
    Scalar(_, scalar) {
      if (typeof scalar.value === 'string' && visible(scalar.value) !== scalar.value)
        scalar.type = 'QUOTE_DOUBLE'
    },
  })
  return visibleJson(document.toString(options))
}

/** The detail of a problem begins with its pointer, as `warm.seconds`. */
export function problemsIn(file: string, placeIn: PlaceInYaml): ProblemAt {
  return (pointer, detail, ofName) => ({
    file,
    ...placeIn(pointer, ofName),
    detail: `${dotted(pointer)} ${detail}`.trim(),
  })
}

/** What `read` finds wrong is a problem of the file. @throws QueriesError in place of DefinitionError */
export function atPlaces<T>(problem: ProblemAt, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error
    throw new QueriesError(
      error.problems.map(({ pointer, detail, ofName }) => problem(pointer, detail, ofName)),
    )
  }
}

/** A JSON pointer as people write it: `warm.seconds`. */
export function dotted(pointer: string): string {
  return pointer.slice(1).replaceAll('/', '.')
}

export interface YamlDocument {
  document: Document
  /** As plain values: of bounded depth, without cycles. */
  content: unknown
  placeIn: PlaceInYaml
  problem: ProblemAt
}

/** The text of a file of a folder. @throws QueriesError where it cannot be read */
export function textOf(file: string): string {
  const read = readText(file, 'put a file there')
  if ('fault' in read) throw new QueriesError([problemOf(file, read.fault)])
  return read.text
}

export function problemOf(file: string, detail: string): FileProblem {
  return { file, line: 1, column: 1, detail }
}

/** @throws QueriesError with every error of the YAML */
export function readYaml(file: string): YamlDocument {
  const lines = new LineCounter()
  return withPlaces(file, parseDocument(textOf(file), { lineCounter: lines }), lines)
}

/**
 * The documents of a text, which `---` parts.
 * @throws QueriesError with every error of the first that has some
 */
export function readYamlDocuments(file: string, text: string): YamlDocument[] {
  const lines = new LineCounter()
  return [...parseAllDocuments(text, { lineCounter: lines, logLevel: 'error' })].map(each =>
    withPlaces(file, each, lines),
  )
}

/** What the parser says to programmers, for who writes the file. */
const plainer = [
  ['Source contains multiple documents', 'the file holds several documents: write one a file, without ---'],
  ['Excessive alias count', 'aliases (*name) stand for too much: write the values out'],
] as const

function withPlaces(file: string, document: Document, lines: LineCounter): YamlDocument {
  const { content, errors } = contentOf(document)
  const unreadable = errors.map(({ message, pos }) => {
    const { line, col: column } = lines.linePos(pos[0])
    const said = message.split('\n', 1)[0]!.replace(/ at line \d+, column \d+:$/, '')
    const detail = plainer.find(([start]) => said.startsWith(start))?.[1] ?? said
    return { file, line, column, detail }
  })
  QueriesError.assertNone(unreadable)
  const placeIn = (pointer: string, ofName = false) => {
    const { line, col: column } = lines.linePos(offsetIn(document, pointer, ofName))
    return { line, column }
  }
  return { document, content, placeIn, problem: problemsIn(file, placeIn) }
}

function offsetIn(document: Document, pointer: string, ofName: boolean): number {
  const keys = pointer.split('/').slice(1)
  for (let named = ofName; keys.length > 0; keys.pop(), named = false) {
    const node = named ? nameNode(document, keys) : document.getIn(keys, true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return document.contents?.range?.[0] ?? 0
}

function nameNode(document: Document, keys: string[]): Node | null {
  const map = keys.length === 1 ? document.contents : document.getIn(keys.slice(0, -1), true)
  const pair = isMap<Node>(map) ? map.items.find(({ key }) => String(key) === keys.at(-1)) : undefined
  return pair?.key ?? null
}

interface YamlError {
  message: string
  pos: [number, ...unknown[]]
}

/** The parser overflows the stack at some 1,000 levels, and refuses aliases that would fill the memory. */
function contentOf(document: Document): { content: unknown; errors: YamlError[] } {
  const isOverflow = ({ message }: YamlError) => message.startsWith('Maximum call stack size exceeded')
  const failed = (message: string) => ({ content: null, errors: [{ message, pos: [0] } satisfies YamlError] })
  try {
    const errors = [...document.errors, ...unknownAliases(document)]
    const content: unknown = errors.length > 0 ? null : document.toJS()
    return errors.some(isOverflow) || isDeepValue(content) ? failed(tooDeep) : { content, errors }
  } catch (error) {
    return failed(error instanceof RangeError ? tooDeep : (error as Error).message)
  }
}

/** Aliases without an anchor, which the parser lets pass. */
function unknownAliases(document: Document): YamlError[] {
  const found: YamlError[] = []
  visit(document, (_, node) => {
    if (!isAlias(node) || node.resolve(document)) return
    found.push({ message: `there is no anchor &${node.source}`, pos: [node.range?.[0] ?? 0] })
  })
  return found
}
