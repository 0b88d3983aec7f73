/** All that can be done on the page, found by its name; and the keys that do some of it. */
import { useEffect, useMemo } from 'preact/hooks'
import { type Commands, keys, keyText } from './shortcuts.ts'
import { Choose } from './controls.tsx'
import { readLink } from './address.ts'
import { recentViews } from './recent.ts'
import type { Places } from './places.ts'
import type { Endpoint } from './service.ts'
import { synonymsOf } from './synonyms.ts'
import { Views } from './views.ts'

interface Props {
  commands: Commands
  apiKey: string
  endpoint: Endpoint
  places: Places
  close(): void
}

/** The views of the open endpoint come after what is there at once. */
export function Palette({ commands, apiKey, endpoint, places, close }: Props) {
  const { saved, device } = useMemo(() => Views.of(apiKey, endpoint), [])
  useEffect(() => void Promise.all([saved.read(), device.read()]), [])
  const open = (address: string) => () => places.follow({ ...readLink(address)!, endpoint: endpoint.name })
  const views = [...saved.all.value, ...device.all.value].map(
    ({ name, address }) => [`Saved view: ${name}`, open(address)] as const,
  )
  const recent = recentViews(endpoint).map(
    ({ address, text }) => [`Recent view: ${text || 'the plain one'}`, open(address)] as const,
  )
  const all: Commands = { ...commands, ...Object.fromEntries([...views, ...recent]) }
  return (
    <Choose
      label="All commands"
      choices={Object.keys(all).map(name => [name, name, keyText(name), synonymsOf(name)])}
      chosen=""
      choose={name => {
        close()
        all[name]!()
      }}
    />
  )
}

export function Shortcuts() {
  return (
    <dl class="keys">
      {Object.keys(keys).map(name => (
        <>
          <dt>
            <kbd>{keyText(name)}</kbd>
          </dt>
          <dd>{name}</dd>
        </>
      ))}
    </dl>
  )
}
