/** Values as people read them: one, and a whole row field by field. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { Row } from '../../shared/engines/engine.ts'
import { partsOf } from './logs/hits.ts'
import { timeIn } from './logs/range.ts'
import { type Zone, zoneName } from './logs/zone.ts'
import { childrenOf, gist, isNested, type IsJson, type Node, nodesOf, type Scalar } from './value.ts'

interface LeafProps {
  value: Scalar
  /** Named beside a time; none by default. */
  zone?: Zone
  /** Found in it, to be marked. */
  hits?: RegExp | null
}

/** A time is readable, and shows the value that was sent on hover. */
export function Leaf({ value, zone, hits = null }: LeafProps) {
  if (value === null) return <span class="null">null</span>
  const time = timeIn(value, zone ?? 'UTC')
  if (!time)
    return (
      <span class={typeof value === 'string' ? 'text' : typeof value}>
        <Marked text={String(value)} hits={hits} />
      </span>
    )
  return (
    <time title={String(value)}>
      {time.text}
      {zone && time.isMoment && <span class="zone"> {zoneName(zone)}</span>}
    </time>
  )
}

/** A text with what is found in it. */
export function Marked({ text, hits }: { text: string; hits: RegExp | null }) {
  if (!hits) return text
  return partsOf(text, hits).map((part, i) => (i % 2 === 0 ? part : <mark>{part}</mark>))
}

interface TreeProps {
  row: Row
  /** How many levels are open; deeper ones would bury the rest. */
  depth: number
  /** Of the times. */
  zone: Zone
  isJson?: IsJson
  /** What stands beside a value. */
  acts?(path: string, value: Scalar): ComponentChildren
  /** What is marked in the value there. */
  hits?(path: string): RegExp | null
  /** Shows the values alone that have it in their path or in their text. */
  find?: string
}

/** One row in full: every field, nested ones folding out, long text uncut. */
export function Tree({ row, ...options }: TreeProps) {
  const sought = options.find?.trim().toLowerCase() ?? ''
  const nodes = nodesOf(row, options.isJson).filter(node => isFound(node, sought, options))
  return (
    <>
      {nodes.map(node => (
        <Branch key={node.name} node={node} level={0} sought={sought} {...options} />
      ))}
      {options.find !== undefined && (
        <p class="hint" role="status">
          {nodes.length === 0 && 'No field has it.'}
        </p>
      )}
    </>
  )
}

type Options = Omit<TreeProps, 'row'>

function isFound(node: Node, sought: string, options: Options): boolean {
  if (sought === '') return true
  const { name, path, value } = node
  const children = childrenOf(node, options.isJson)
  if (children.length > 0) return children.some(child => isFound(child, sought, options))
  const time = isNested(value) ? null : timeIn(value, options.zone)
  const zone = time?.isMoment ? zoneName(options.zone) : ''
  return `${path} ${name} ${time?.text ?? gist(value)} ${zone}`.toLowerCase().includes(sought)
}

interface BranchProps extends Options {
  node: Node
  level: number
  sought: string
}

function Branch({ node, level, sought, ...options }: BranchProps) {
  const { name, value, path } = node
  const isOpen = useSignal(level < options.depth)
  const label = (
    <span class="name" title={path}>
      {name}
    </span>
  )
  if (!isNested(value) || Object.keys(value).length === 0)
    return (
      <div class="leaf">
        {label}
        <span class="value">
          {isNested(value) ? (
            <span class="null">[]</span>
          ) : (
            <Leaf value={value} zone={options.zone} hits={options.hits?.(path) ?? null} />
          )}
        </span>
        {!isNested(value) && options.acts?.(path, value)}
      </div>
    )
  return (
    <details
      open={isOpen.value || sought !== ''}
      onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
      <summary>
        {label}
        <span class="gist">{gist(value)}</span>
      </summary>
      {(isOpen.value || sought !== '') &&
        childrenOf(node, options.isJson)
          .filter(child => isFound(child, sought, options))
          .map(child => (
            <Branch key={child.name} node={child} level={level + 1} sought={sought} {...options} />
          ))}
    </details>
  )
}
