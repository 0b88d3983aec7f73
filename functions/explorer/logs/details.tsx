/** One entry, all of it, as a tree beside the rows. */
import type { Row } from '../../../shared/engines/engine.ts'
import { Button, Copy } from '../controls.tsx'
import { childrenOf, type IsJson, isNested, type Node, nodesOf } from '../value.ts'
import { Tree } from '../value.tsx'
import { searchFor } from './conditions.ts'
import { redactedText } from './chart.ts'
import type { Zone } from './zone.ts'
import { fieldAt, identityRank, nameOf, type Shape } from './shape.ts'
import type { Filter, Scalar } from './state.ts'

interface Acts {
  filter(filter: Filter): void
  column(path: string): void
  /** Its values with their counts. */
  values(path: string): void
  /** Shows all entries that have the text in any field. */
  everywhere(text: string): void
  /** Where these are looked for: `in all tables`. */
  where: string
  /** Whether the entry is. */
  redacted: boolean
  /** Of its times. */
  zone: Zone
  /** What the search has found in the value there. */
  hits(path: string): RegExp | null
}

interface Props {
  /** With all its columns, of which the list shows some. */
  entry: Row
  shape: Shape
  acts: Acts
  /** Shows the fields alone that have it in their path or in their value. */
  find: string
}

export function Details({ entry, shape, acts, find }: Props) {
  const isJson = (path: string) => fieldAt(shape, path)?.type === 'JSON'
  return (
    <div class="tree" tabIndex={0} role="region" aria-label="Fields of the entry">
      <Identities entry={entry} shape={shape} acts={acts} isJson={isJson} />
      <Tree
        row={entry}
        depth={Infinity}
        zone={acts.zone}
        isJson={isJson}
        find={find}
        hits={acts.hits}
        acts={(path, value) => <LeafActs path={path} value={value} shape={shape} acts={acts} />}
      />
    </div>
  )
}

const mostIdentities = 3

interface IdentitiesProps extends Omit<Props, 'find'> {
  isJson: IsJson
}

/** Who, or which request, it is: a press shows what else is known of these. */
function Identities({ entry, shape, acts, isJson }: IdentitiesProps) {
  const leaves = (node: Node): Node[] => {
    const children = childrenOf(node, isJson)
    return children.length > 0 ? children.flatMap(leaves) : isNested(node.value) ? [] : [node]
  }
  const found = nodesOf(entry, isJson)
    .flatMap(leaves)
    .map(({ path, value }) => ({ path, value: value as Scalar }))
    .filter(({ path, value }) => identityRank({ path }) >= 0 && isSought(path, value, shape, acts))
  const byValue = [...new Map(found.toReversed().map(each => [each.value, each])).values()].toReversed()
  const first = byValue.toSorted((a, b) => identityRank(a) - identityRank(b)).slice(0, mostIdentities)
  if (first.length === 0) return null
  return (
    <ul class="identities">
      {first.map(({ path, value }) => (
        <li key={path}>
          <span class="name" title={path}>
            {nameOf({ path })}
          </span>
          <span class="value">{String(value)}</span>
          <Button title={path} press={() => acts.everywhere(searchFor(String(value)))}>
            All entries with this value {acts.where}
          </Button>
        </li>
      ))}
    </ul>
  )
}

/** A time is found by its digits, which a search by text does not read, a truth in every entry. */
function isSought(path: string, value: Scalar, shape: Shape, acts: Acts): boolean {
  const isText = /^(STRING|JSON|INT64|NUMERIC)$/.test(fieldAt(shape, path)?.type ?? '')
  return isText && value !== null && value !== '' && !isHidden(value, acts)
}

function isHidden(value: Scalar, { redacted }: Acts): boolean {
  return redacted && redactedText.test(String(value))
}

interface LeafActsProps {
  path: string
  value: Scalar
  shape: Shape
  acts: Acts
}

function LeafActs({ path, value, shape, acts }: LeafActsProps) {
  const field = fieldAt(shape, path)
  const canFilter = field !== null && !isHidden(value, acts)
  // JSON itself is compared by its text.
  const compared = field?.type === 'JSON' ? JSON.stringify(value) : value
  const filter = (operator: '=' | '!=') => () => acts.filter({ path, operator, value: compared })
  const act = (name: string, words: string, press: () => void) => {
    const label = `${words} ${path}`
    return (
      <Button title={label} aria-label={label} press={press}>
        {name}
      </Button>
    )
  }
  return (
    <span class="leaf-acts">
      {canFilter && act('=', 'Filter for', filter('='))}
      {canFilter && act('≠', 'Filter out', filter('!='))}
      {field && act('column', 'Column of', () => acts.column(path))}
      {field && act('values', 'Values of', () => acts.values(path))}
      {isSought(path, value, shape, acts) &&
        act('all entries', `All entries with this value ${acts.where}:`, () =>
          acts.everywhere(searchFor(String(value))),
        )}
      <Copy name="copy" title={`Copy ${path}`} aria-label={`Copy ${path}`} text={() => String(value)} />
    </span>
  )
}
