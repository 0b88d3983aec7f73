/** The relation of the sets: its names, and what a service tells of it. */
import { nameKey } from '../relations.ts'
import type * as ast from '../tree.ts'
import type { Column, StructType } from '../types.ts'
import { parameterNames } from '../walk.ts'
import * as make from './nodes.ts'

/** All names that a batch makes begin so. */
export const prefix = 'batch__'
/** The number of a set, in what `@sets` holds and in the rows of the batch. */
export const setColumn = `${prefix}set`
/** The array of structs that a batch takes: all sets. */
export const setsParameter = 'sets'
/** A second one, of few of them, by which rows are bounded before they are read. */
export const fewParameter = 'few_sets'

/** The name of a parameter in what `@sets` holds. */
export function fieldOf(parameter: string): string {
  return `${prefix}p_${nameKey(parameter)}`
}

/** An element of `@sets` and `@few_sets`. */
export function typeOfSet(parameters: Column[]): StructType {
  const fields = parameters.map(({ name, type }) => ({ name: fieldOf(name), type }))
  return { kind: 'STRUCT', fields: [{ name: setColumn, type: { kind: 'INT64' } }, ...fields] }
}

/** What is known of the sets. */
export interface Sets {
  parameters: Column[]
  /**
   * Places in `@few_sets` of sets that have, together, all values of these parameters that are in use; `null` where there are too many.
   * @param ends whether the least and the greatest value of the only parameter will do
   */
  representatives(parameters: string[], ends: boolean): number[] | null
}

/** The common table of the sets. */
export function tableOfSets({ parameters }: Sets): ast.CommonTable {
  const fields = typeOfSet(parameters).fields.map(({ name }) => make.item(make.path('s', name!), null))
  const array = { kind: 'ParameterReference', name: setsParameter, at: 0 } as const
  const unnest = { kind: 'UnnestReference', array, alias: make.name('s'), offset: null, at: 0 } as const
  return make.common(`${prefix}sets`, make.queryOf(make.select(fields, unnest)))
}

/** The sets in FROM, by the name that every SELECT which reads them has for them. */
export function setsInFrom(): ast.TableReference {
  return make.table(`${prefix}sets`, `${prefix}s`)
}

export function columnOfSet(column: string): ast.Path {
  return make.path(`${prefix}s`, column)
}

/** The last column of what depends on a set. */
export function numberItem(): ast.SelectColumn {
  return make.item(columnOfSet(setColumn), setColumn)
}

/** The names of the parameters that these nodes hold, each once. */
export function parametersIn(...nodes: ast.AnyNode[]): string[] {
  const names = nodes.flatMap(node => [...parameterNames(node)].map(([name]) => nameKey(name)))
  return [...new Set(names)]
}
