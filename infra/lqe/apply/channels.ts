/** The channels of alerts: `channels.yaml` beside the endpoints becomes one document of the store. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Channels, channelsAt, fieldsOfChannels, readChannels } from '../../../shared/alerts/channels.ts'
import schema from '../../../shared/alerts/channels.schema.json' with { type: 'json' }
import { readerOf } from '../../../shared/endpoints/definition-file.ts'
import { nameHint } from '../../../shared/sql/hints.ts'
import type { Store } from '../../../shared/stores/store.ts'
import { lineDiff } from './diff.ts'
import type { Step } from './plan.ts'
import { channelsFile, type EndpointSource } from './read.ts'
import { atPlaces, type FileProblem, readYaml } from './yaml.ts'

/** @returns none for a folder without the file @throws QueriesError */
export function channelsOf(folder: string): Channels {
  const file = join(folder, channelsFile)
  if (!existsSync(file)) return {}
  const { content, problem } = readYaml(file)
  return atPlaces(problem, () => channelsFrom(content ?? {}))
}

/** Content by the schema. @returns throws DefinitionError */
export const channelsFrom = readerOf(schema) as (content: unknown) => Channels

/** Alerts that would go nowhere. */
export function unknownChannels(sources: EndpointSource[], channels: Channels): FileProblem[] {
  const alerts = sources.flatMap(source => source.alerts)
  const names = Object.keys(channels)
  return alerts.flatMap(({ alert, problem }) =>
    alert.channels.flatMap((name, at) => {
      const hint = names.length > 0 ? nameHint(name, names) : 'write it there'
      return names.includes(name)
        ? []
        : problem(`/channels/${at}`, `names ${name}, which ${channelsFile} does not have; ${hint}`)
    }),
  )
}

/**
 * Also where nothing has changed it is a write of the document: what was given up is sent again, as a secret may be another one.
 * @param keepsOthers whether channels that the store has besides stay there
 * @returns the step that makes the store have these channels; none where there are none, and were none
 */
export async function planChannels(
  channels: Channels,
  store: Store,
  { keepsOthers = false } = {},
): Promise<Pick<Step, 'change' | 'name' | 'diff' | 'write'>[]> {
  const { channels: before, version: ifVersion } = await readChannels(store)
  const after = keepsOthers ? { ...before, ...channels } : channels
  const isWanted = Object.keys(after).length > 0
  const [at, fields, name] = [channelsAt, fieldsOfChannels(after), channelsFile]
  if (ifVersion === null)
    return isWanted ? [{ name, change: 'created', diff: null, write: { type: 'create', at, fields } }] : []
  if (!isWanted) return [{ name, change: 'removed', diff: null, write: { type: 'remove', at, ifVersion } }]
  const diff = lineDiff(textOf(before), textOf(after))
  if (diff === '')
    return [{ name, change: 'unchanged', diff: null, write: { type: 'update', at, set: fields } }]
  return [{ name, change: 'changed', diff, write: { type: 'replace', at, fields, ifVersion } }]
}

function textOf(channels: Channels): string {
  return `${JSON.stringify(channels, null, 2)}\n`
}
