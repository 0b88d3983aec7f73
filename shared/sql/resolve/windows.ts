/** OVER and WINDOW. */
import { nameKey } from '../relations.ts'
import type { Identifier, NamedWindow, Window } from '../tree.ts'
import { key } from './coercion.ts'
import type { Context, Faults, Scope, WholeWindow } from './resolution.ts'
import { mayBe, numberKinds } from './types.ts'

/** The windows of a WINDOW clause by lower-case name. */
export function namedWindows(context: Faults, named: NamedWindow[]): Scope['windows'] {
  const windows = new Map<string, WholeWindow>()
  for (const { name, window } of named) {
    const whole = wholeWindow(context, window, windows)
    if (windows.has(nameKey(name.name))) context.fault(name, `Duplicate window alias ${name.name}`)
    windows.set(nameKey(name.name), whole)
  }
  return windows
}

/** A window with what it takes from the named one that it stands for or extends. */
export function wholeWindow(
  context: Faults,
  node: Window | Identifier,
  windows: Scope['windows'],
): WholeWindow {
  const own = 'kind' in node ? node : { ...nothing, base: node, at: node.at }
  const { base: name } = own
  const base = name && windows.get(nameKey(name.name))
  if (name && !base) context.fault(name, `Unrecognized window alias ${name.name}`)
  if (!base) return { ...own, base: null }
  const refused =
    (own.partitionBy.length > 0 && 'has a PARTITION BY, it cannot extend a named window') ||
    (own.orderBy.length > 0 &&
      base.orderBy.length > 0 &&
      'extends one with ORDER BY, it cannot have its own') ||
    ((own.orderBy.length > 0 || own.frame) && base.frame && 'extends one with a frame, it cannot add to it')
  if (refused) context.fault(own, `If a window ${refused}`)
  const { partitionBy } = base
  const orderBy = own.orderBy.length > 0 ? own.orderBy : base.orderBy
  return { ...own, base: null, partitionBy, orderBy, frame: own.frame ?? base.frame }
}

const nothing: Omit<Window, 'at'> = { kind: 'Window', base: null, partitionBy: [], orderBy: [], frame: null }

/** Resolves the keys of a window: names are columns there, never aliases. */
export function resolveWindow(
  context: Context,
  { partitionBy, orderBy, frame }: WholeWindow,
  scope: Scope,
): void {
  for (const each of partitionBy) key(context, each, 'PARTITION BY', context.value(each, scope))
  for (const item of orderBy) key(context, item, 'ORDER BY', context.value(item.expression, scope))
  for (const bound of [frame?.start, frame?.end])
    if (bound?.count?.kind === 'ParameterReference') context.value(bound.count, scope)
  if (!frame) return
  const { start, end, unit } = frame
  const [first, last] = [start.bound, end?.bound ?? 'CURRENT ROW']
  if (bounds.indexOf(first) > bounds.indexOf(last) || first === bounds.at(-1) || last === bounds[0])
    context.fault(
      end ?? start,
      end
        ? `A frame cannot begin at ${first} and end at ${last}`
        : `A frame that starts after the current row needs its end: write ${unit} BETWEEN 1 FOLLOWING AND 3 FOLLOWING`,
    )
  const [item, another] = orderBy
  const distances = [start.count, end?.count].filter(count => count != null)
  const type = unit === 'RANGE' && item ? context.value(item.expression, scope).type : int64
  for (const count of distances)
    if (count.kind === 'Literal' && count.literal === 'FLOAT' && type?.kind === 'INT64')
      context.fault(count, 'The bound of ROWS is a whole number, and so is that of RANGE over an INT64')
  if (unit !== 'RANGE' || distances.length === 0 || !item) return
  if (another) context.fault(another, 'RANGE with a distance takes one key in ORDER BY')
  if (!mayBe(type, ...numberKinds))
    context.fault(
      item,
      'RANGE with a distance is ordered by a number: of a time, write UNIX_SECONDS(x), and the distance in seconds',
    )
}

const int64 = { kind: 'INT64' } as const

/** In the order of the rows. */
const bounds = ['UNBOUNDED PRECEDING', 'PRECEDING', 'CURRENT ROW', 'FOLLOWING', 'UNBOUNDED FOLLOWING']
