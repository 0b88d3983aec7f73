/** BYTES in functions of strings: as characters, one for each byte, on which DuckDB's functions work as on bytes. */
import type { Expression } from '../../../../sql/tree.ts'
import { arrayOf, type Typed, typed } from '../context.ts'
import { applyRule, CallSite, type FunctionRule, type FunctionTable } from './signature.ts'

/** A table of functions of strings, for bytes too. */
export function ofBytesToo(table: FunctionTable): FunctionTable {
  return Object.fromEntries(
    Object.entries(table).map(([name, rule]) => [
      name,
      site => (site.argument(0).type?.kind === 'BYTES' ? ofBytes(site, rule) : applyRule(site, rule)),
    ]),
  )
}

function ofBytes(site: CallSite, rule: FunctionRule): Typed {
  const { sql, type } = applyRule(
    new ByteSite(site.context, site.call, site.scope, site.name, site.values),
    rule,
  )
  if (type?.kind === 'STRING') return typed(`gsql_bytes(${sql})`, 'BYTES')
  if (type?.kind === 'ARRAY' && type.element.kind === 'STRING')
    return typed(`list_transform(${sql}, lambda b: gsql_bytes(b))`, arrayOf({ kind: 'BYTES' }))
  return { sql, type }
}

/** A call whose BYTES are strings, and that has no STRING. */
class ByteSite extends CallSite {
  override argument(at: number): Typed {
    const value = super.argument(at)
    if (value.type?.kind === 'STRING') throw this.noMatch([value])
    return value.type?.kind === 'BYTES' ? typed(`gsql_characters(${value.sql})`, 'STRING') : value
  }

  override literal(node: Expression): string | null {
    return node.kind === 'Literal' && node.literal === 'BYTES' ? node.value : null
  }

  override literalText(node: Expression | undefined): string {
    return node?.kind === 'Literal' && node.literal === 'BYTES' ? node.value : super.literalText(node)
  }
}
