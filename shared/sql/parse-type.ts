import { Cursor } from './cursor.ts'
import type { ScalarName, SqlType, StructField, StructType } from './types.ts'
import { scalarAliases, scalarNames } from './types.ts'

const scalars: ReadonlyMap<string, ScalarName> = new Map([
  ...scalarNames.map(name => [name, name] as const),
  ...Object.entries(scalarAliases),
])

/** Types: in CAST, `ARRAY<...>[...]` and `STRUCT<...>(...)`. */
export abstract class TypeParser extends Cursor {
  protected type(): SqlType {
    return this.nested(() => {
      if (this.takeWords('ARRAY')) return { kind: 'ARRAY', element: this.elementType() }
      if (this.takeWords('STRUCT')) return this.structType()
      return this.scalarType()
    })
  }

  /** `<T>`, behind ARRAY. */
  protected elementType(): SqlType {
    this.expectSymbol('<')
    const element = this.type()
    this.expectSymbol('>')
    return element
  }

  /** `<a INT64, STRING>`, behind STRUCT. Two closing `>` are two tokens, so `ARRAY<STRUCT<a INT64>>` just ends. */
  protected structType(): StructType {
    if (this.takeSymbol('<>')) return { kind: 'STRUCT', fields: [] }
    this.expectSymbol('<')
    const fields = this.list(() => this.structField())
    this.expectSymbol('>')
    return { kind: 'STRUCT', fields }
  }

  private structField(): StructField {
    const { kind } = this.ahead(1)
    const named = kind === 'word' || kind === 'quoted'
    return { name: named ? this.identifier().name : null, type: this.type() }
  }

  private scalarType(): SqlType {
    if (this.token.kind !== 'word') throw this.unexpected('a type')
    const kind = scalars.get(this.token.value)
    if (!kind) throw this.refusal(`${this.token.text} is not a supported type`)
    this.next()
    if (!this.isSymbol('(')) return { kind }
    return { kind, size: this.parenthesized(() => this.list(() => this.typeSize())) }
  }

  private typeSize(): number {
    if (this.token.kind !== 'integer') throw this.unexpected('the size of a type')
    return Number(this.next().text)
  }
}
