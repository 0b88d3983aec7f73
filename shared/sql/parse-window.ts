import { TypeParser } from './parse-type.ts'
import type { Count, Expression, Frame, FrameBound, OrderItem, Window } from './tree.ts'

/** ORDER BY, LIMIT's counts and window definitions. */
export abstract class WindowParser extends TypeParser {
  protected abstract expression(): Expression

  /** `ORDER BY ...` if it stands here. */
  protected orderBy(): OrderItem[] {
    return this.takeWords('ORDER', 'BY') ? this.list(() => this.orderItem()) : []
  }

  /** A plain integer or a parameter. */
  protected count(what: string): Count {
    const { kind, text, value, at } = this.token
    if (kind === 'integer') {
      this.next()
      return { kind: 'Literal', literal: 'INTEGER', text, value: '', at }
    }
    if (kind !== 'parameter') throw this.unexpected(`${what} (an integer or a parameter)`)
    this.next()
    return { kind: 'ParameterReference', name: value, at }
  }

  /** `(PARTITION BY ... ORDER BY ... ROWS ...)`, or the bare name of a window. */
  protected window(): Window {
    const { at } = this.token
    if (!this.isSymbol('(')) {
      return { kind: 'Window', base: this.identifier(), partitionBy: [], orderBy: [], frame: null, at }
    }
    return this.parenthesized(() => ({
      kind: 'Window',
      base: this.atName() ? this.identifier() : null,
      partitionBy: this.takeWords('PARTITION', 'BY') ? this.list(() => this.expression()) : [],
      orderBy: this.orderBy(),
      frame: this.frame(),
      at,
    }))
  }

  private orderItem(): OrderItem {
    const { at } = this.token
    const expression = this.expression()
    const direction = this.takeOneOf('ASC', 'DESC')
    const nulls = this.takeWords('NULLS') ? this.expectOneOf('FIRST', 'LAST') : null
    return { kind: 'OrderItem', expression, direction, nulls, at }
  }

  private frame(): Frame | null {
    const { at } = this.token
    const unit = this.takeOneOf('ROWS', 'RANGE')
    if (!unit) return null
    if (!this.takeWords('BETWEEN')) return { kind: 'Frame', unit, start: this.bound(), end: null, at }
    const start = this.bound()
    this.expectWords('AND')
    return { kind: 'Frame', unit, start, end: this.bound(), at }
  }

  private bound(): FrameBound {
    const { at } = this.token
    if (this.takeWords('CURRENT', 'ROW')) return { kind: 'FrameBound', bound: 'CURRENT ROW', count: null, at }
    if (this.takeWords('UNBOUNDED')) {
      const side = this.expectOneOf('PRECEDING', 'FOLLOWING')
      return { kind: 'FrameBound', bound: `UNBOUNDED ${side}`, count: null, at }
    }
    const count = this.count('the bound of a frame')
    return { kind: 'FrameBound', bound: this.expectOneOf('PRECEDING', 'FOLLOWING'), count, at }
  }
}
