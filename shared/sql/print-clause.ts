import { printFunction, printName } from './print-token.ts'
import type { Call, Count, Expression, FrameBound, OrderItem, SelectColumn, Window } from './tree.ts'

/** What stands in and around expressions: lists, ORDER BY, windows, and the calls that hold all of these. */
export abstract class ClausePrinter {
  abstract expression(node: Expression): string

  list(nodes: Expression[]): string {
    return nodes.map(node => this.expression(node)).join(', ')
  }

  column({ expression, alias }: SelectColumn): string {
    return this.expression(expression) + as(alias)
  }

  orderBy(items: OrderItem[]): string {
    const texts = items.map(({ expression, direction, nulls }) => {
      const order = (direction ? ` ${direction}` : '') + (nulls ? ` NULLS ${nulls}` : '')
      return this.expression(expression) + order
    })
    return texts.length > 0 ? `ORDER BY ${texts.join(', ')}` : ''
  }

  window(window: Window): string {
    const { base, partitionBy, frame } = window
    const parts = [
      base ? printName(base) : '',
      partitionBy.length > 0 ? `PARTITION BY ${this.list(partitionBy)}` : '',
      this.orderBy(window.orderBy),
      frame ? `${frame.unit} ${frame.end ? 'BETWEEN ' : ''}${this.bound(frame.start)}` : '',
      frame?.end ? `AND ${this.bound(frame.end)}` : '',
    ]
    return `(${parts.filter(Boolean).join(' ')})`
  }

  count(count: Count | null, keyword: string): string {
    return count ? `${keyword} ${this.expression(count)}` : ''
  }

  private bound({ bound, count }: FrameBound): string {
    return count ? `${this.expression(count)} ${bound}` : bound
  }

  protected call(node: Call): string {
    const { star, distinct, nulls, having, over } = node
    const inside = [
      distinct ? 'DISTINCT' : '',
      star ? '*' : this.list(node.arguments),
      nulls ? `${nulls} NULLS` : '',
      having ? `HAVING ${having.extreme} ${this.expression(having.expression)}` : '',
      this.orderBy(node.orderBy),
      this.count(node.limit, 'LIMIT'),
    ]
    const text = `${printFunction(node)}(${inside.filter(Boolean).join(' ')})`
    if (!over) return text
    return `${text} OVER ${'kind' in over ? this.window(over) : printName(over)}`
  }
}

export function as(alias: Parameters<typeof printName>[0] | null): string {
  return alias ? ` AS ${printName(alias)}` : ''
}
