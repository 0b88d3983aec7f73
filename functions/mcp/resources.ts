/** The tables of endpoints with a sandbox, as resources: what an agent reads before it writes SQL. */
import type { ReadResourceResult, Resource } from '@modelcontextprotocol/server'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { mayCall } from '../../shared/keys/authenticate.ts'
import { tableQueries } from '../../shared/sandbox/tables.ts'
import { type ColumnDescription, type TableDescription, tablesOf } from '../query/tables.ts'
import { invalidParams, type Session } from './session.ts'

export async function listResources(session: Session): Promise<Resource[]> {
  return (await sandboxed(session)).flatMap(endpoint =>
    tableQueries(endpoint).map(({ name }) => ({
      uri: `lqe://${endpoint.name}/${name}`,
      name: `${endpoint.name}/${name}`,
      description: `Columns of ${name}, with a worked query`,
      mimeType: 'text/plain',
    })),
  )
}

async function sandboxed({ call, caller }: Session): Promise<Endpoint[]> {
  const all = await call.services.endpoints.all()
  return all.filter(({ name, sandbox }) => sandbox && mayCall(caller, name))
}

export async function readResource(session: Session, uri: string): Promise<ReadResourceResult> {
  const [, name, table] = /^lqe:\/\/([^/]+)\/([^/]+)$/.exec(uri) ?? []
  const endpoint = (await sandboxed(session)).find(each => each.name === name)
  const described = endpoint && (await tablesOf(endpoint, session.call.services.columnsOf))
  const found = described?.find(each => each.name === table)
  if (!found) throw invalidParams(`There is no resource ${uri}.`, { uri })
  return { contents: [{ uri, mimeType: 'text/plain', text: textOf(found) }] }
}

function textOf({ name, columns }: TableDescription): string {
  return [
    `Table ${name}`,
    ...columns.flatMap(column => linesOf(column, 1)),
    '',
    'Example:',
    exampleOf({ name, columns }),
  ].join('\n')
}

function linesOf({ name, type, repeated, fields = [] }: ColumnDescription, depth: number): string[] {
  const line = `${'  '.repeat(depth)}${name ?? '(unnamed)'} ${repeated ? `ARRAY<${type}>` : type}`
  return [line, ...fields.flatMap(field => linesOf(field, depth + 1))]
}

/** With UNNEST for each record on the way to the first field of a nested column, where there is one. */
function exampleOf({ name, columns }: TableDescription): string {
  const nested = columns.find(({ fields, repeated }) => repeated && fields)
  const time = columns.some(column => column.name === 'timestamp') ? 'timestamp' : null
  const order = time ? ` ORDER BY t.${time} DESC` : ''
  if (!nested) {
    const names = columns.flatMap(column => (column.name === null ? [] : [`t.${column.name}`]))
    return `SELECT ${names.slice(0, 5).join(', ')} FROM ${name} AS t${order} LIMIT 20`
  }
  const { joins, path } = chain(nested)
  return `SELECT ${time ? `t.${time}, ` : ''}${path} FROM ${name} AS t ${joins.join(' ')}${order} LIMIT 20`
}

function chain(column: ColumnDescription, parent = 't', depth = 1): { joins: string[]; path: string } {
  const alias = `f${depth}`
  const join = `LEFT JOIN UNNEST(${parent}.${column.name}) AS ${alias}`
  const inner = column.fields?.find(({ repeated, fields }) => repeated && fields)
  if (inner) {
    const below = chain(inner, alias, depth + 1)
    return { joins: [join, ...below.joins], path: below.path }
  }
  const field = column.fields?.find(({ fields }) => !fields)
  return { joins: [join], path: field ? `${alias}.${field.name}` : alias }
}
