/** What must hold of a companion query: it takes @sets and no more, and gives the parameters and the endpoint's columns. */
import type { QueryEngine } from '../../../shared/engines/engine.ts'
import { type Endpoint, parameterColumns } from '../../../shared/endpoints/definition.ts'
import { placeOf } from '../../../shared/sql/error.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { printType } from '../../../shared/sql/printer.ts'
import type { Query, QueryBody, Select } from '../../../shared/sql/tree.ts'
import type { Column } from '../../../shared/sql/types.ts'
import { parameterNames } from '../../../shared/sql/walk.ts'
import { batchStatement } from '../../../shared/warm/batch.ts'
import type { FileProblem } from './read.ts'

/** @throws SqlError and EngineError of the companion query */
export async function checkCompanion(
  endpoint: Endpoint,
  { file, sql }: { file: string; sql: string },
  own: Column[],
  engine: QueryEngine,
): Promise<FileProblem[]> {
  const query = parse(sql)
  const problem = (at: number, detail: string): FileProblem => ({ file, ...placeOf(sql, at), detail })
  const used = parameterNames(query)
  const strangers = [...used].filter(([name]) => name.toLowerCase() !== 'sets')
  if (strangers.length > 0)
    return strangers.map(([name, at]) => problem(at, `@${name} is not known: a companion query takes @sets`))
  if (used.size === 0) return [problem(0, 'takes no @sets')]
  const shared = parameterColumns(endpoint).filter(({ name }) => own.some(column => column.name === name))
  if (shared.length > 0)
    return [problem(0, `${shared[0]!.name} is a parameter and a column; nobody could tell them apart`)]
  const { columns } = await engine.describe(batchStatement(endpoint, sql, null))
  const mismatch = mismatchOf(columns, parameterColumns(endpoint), own)
  return mismatch ? [problem(placeOfColumn(query, mismatch.column), mismatch.detail)] : []
}

/** First the parameters, in any order, then the endpoint's columns, in theirs. */
function mismatchOf(columns: Column[], parameters: Column[], own: Column[]): Mismatch | null {
  const left = new Set(parameters.map(parameter => inWords(parameter)))
  for (let column = 0; column < Math.max(columns.length, parameters.length + own.length); column++) {
    const found = inWords(columns[column])
    const expected = column < parameters.length ? [...left] : [inWords(own[column - parameters.length])]
    if (!expected.includes(found))
      return { column, detail: `column ${column + 1} must be ${expected.join(' or ')}, and is ${found}` }
    left.delete(found)
  }
  return null
}

interface Mismatch {
  column: number
  detail: string
}

function inWords(column: Column | undefined): string {
  return column ? `${column.name} ${printType(column.type)}` : 'nothing'
}

function placeOfColumn({ body }: Query, column: number): number {
  const { items, at } = firstSelect(body)
  return items[column]?.at ?? at
}

function firstSelect(body: QueryBody): Select {
  if (body.kind === 'Select') return body
  return firstSelect(body.kind === 'SetOperation' ? body.left : body.query.body)
}
