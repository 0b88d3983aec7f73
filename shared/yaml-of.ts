/** Values as YAML that people read and edit, without a library. */
import { visibleJson } from './visible-text.ts'

/** Maps and lists of maps as blocks, all else as JSON, which YAML 1.2 contains; hidden characters as its escapes. */
export function yamlOf(value: object): string {
  return `${blockOf(value, '')}\n`
}

function blockOf(value: object, indent: string): string {
  const fields = Object.entries(value).map(([name, item]: [string, unknown]) => {
    const text = isBlock(item) ? `\n${blockOf(item, `${indent}  `)}` : ` ${plain(item)}`
    return `${indent}${plainName.test(name) ? name : JSON.stringify(name)}:${text}`
  })
  const items = (value as object[]).map?.(item => `${indent}- ${blockOf(item, `${indent}  `).trimStart()}`)
  return (items ?? fields).join('\n')
}

function isBlock(item: unknown): item is object {
  if (typeof item !== 'object' || item === null || Object.keys(item).length === 0) return false
  return !Array.isArray(item) || item.every(isFilled)
}

const isFilled = (item: unknown) => isBlock(item) && !Array.isArray(item)

function plain(value: unknown): string {
  return typeof value === 'string' && plainText.test(value) ? value : visibleJson(JSON.stringify(value))
}

/** What YAML, of any version, reads as the text that it is: not as a truth, and not as a comment or a field. */
const plainText =
  /^(?!(true|false|null|y|n|yes|no|on|off)$)([a-z_]([\w ,./()=<>-]*[\w.)])?|[\da-f]{8}(-[\da-f]+){4})$/i
const plainName = /^(?!(true|false|null|y|n|yes|no|on|off)$)[a-z_][\w-]*$/i
