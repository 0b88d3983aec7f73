/** The window of views: what is asked now is saved under a name, and what was saved or asked before is opened. */
import { recentViews } from './recent.ts'
import { useSignal } from '@preact/signals'
import type { TargetedEvent } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import type { View, ViewText } from '../../shared/endpoints/views.ts'
import { Button, TextInput } from './controls.tsx'
import type { Endpoint } from './service.ts'
import { summaryOf } from './summary.ts'
import { Views } from './views.ts'

interface Props {
  apiKey: string
  endpoint: Endpoint
  /** Of what is asked now. */
  address(): string
  open(address: string): void
}

export function ViewsMenu({ apiKey, endpoint, address, open }: Props) {
  const { saved, device, own } = useMemo(() => Views.of(apiKey, endpoint), [])
  useEffect(() => void Promise.all([saved.read(), device.read()]), [])
  const recent = useMemo(() => recentViews(endpoint), [])
  return (
    <>
      <Save views={own} isShared={own === saved} address={address} />
      <p role="status" class="hint">
        {saved.said.value || device.said.value}
      </p>
      <Shelf title="Saved" views={saved} open={open} mayChange={own === saved} />
      <Shelf title="On this device" views={device} open={open} mayChange />
      {recent.length > 0 && (
        <section aria-label="Recent">
          <h3>Recent</h3>
          <ul class="views-list">
            {recent.map(({ address, text }) => (
              <li key={address}>
                <Button class="link" press={() => open(address)}>
                  {text || 'The plain view'}
                </Button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function Save({ views, isShared, address }: { views: Views; isShared: boolean; address(): string }) {
  const name = useSignal('')
  const write = (text: string) => (name.value = text)
  const submit = (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = name.value.trim()
    if (text !== '') void views.save({ name: text, address: address() })
  }
  const same = views.same.value
  const isSame = same !== null && same.name === name.value.trim()
  return (
    <form class="views-save" onSubmit={submit}>
      <label>
        Save what is asked now as
        <TextInput value={name} maxLength={100} placeholder="Name of the view" write={write} />
      </label>
      <button class="primary" disabled={views.isBusy.value}>
        {isSame ? 'Save over it' : 'Save'}
      </button>
      <p class="hint">
        {isSame
          ? `There is a view “${same.name}”${byWhom(same)}.`
          : isShared
            ? 'For all whose key may call this endpoint and sees the same.'
            : 'In this browser alone: others see views that a key with the right views:write saves.'}
      </p>
    </form>
  )
}

/** ` by console, 2026-03-10 12:30 UTC`; of this device nothing. */
function byWhom(view: ViewText & Partial<View>): string {
  return view.by === undefined ? '' : ` by ${view.by}, ${view.at!.slice(0, 16).replace('T', ' ')} UTC`
}

interface ShelfProps {
  title: string
  views: Views
  open(address: string): void
  mayChange: boolean
}

function Shelf({ title, views, open, mayChange }: ShelfProps) {
  if (views.all.value.length === 0) return null
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ul class="views-list">
        {views.all.value.map(view => (
          <Line key={view.name} view={view} views={views} open={open} mayChange={mayChange} />
        ))}
      </ul>
    </section>
  )
}

/** Once, as it is the same for each drawing. */
const focused = (input: HTMLInputElement | null) => input?.focus()

interface LineProps extends Omit<ShelfProps, 'title'> {
  view: ViewText
}

/** A view, and what can be done with it: nothing is deleted by one press. */
function Line({ view, views, open, mayChange }: LineProps) {
  const doing = useSignal<'rename' | 'delete' | null>(null)
  const name = useSignal(view.name)
  const rename = (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault()
    doing.value = null
    const text = name.value.trim()
    if (text !== '' && text !== view.name) void views.rename(view, text)
  }
  if (doing.value === 'rename')
    return (
      <li>
        <form class="views-line" onSubmit={rename}>
          <TextInput
            aria-label={`New name of ${view.name}`}
            value={name}
            maxLength={100}
            ref={focused}
            write={text => (name.value = text)}
          />
          <button disabled={views.isBusy.value}>Rename</button>
          <Button press={() => (doing.value = null)}>Leave it</Button>
        </form>
      </li>
    )
  return (
    <li>
      <div class="views-line">
        <Button class="link" title={summaryOf(view.address)} press={() => open(view.address)}>
          {view.name}
        </Button>
        <small>{byWhom(view)}</small>
        {mayChange && doing.value === null && (
          <>
            <Button class="quiet" label={`Rename ${view.name}`} press={() => (doing.value = 'rename')}>
              Rename
            </Button>
            <Button class="quiet" label={`Delete ${view.name}`} press={() => (doing.value = 'delete')}>
              Delete
            </Button>
          </>
        )}
        {doing.value === 'delete' && (
          <>
            <Button
              label={`Delete ${view.name} for good`}
              disabled={views.isBusy.value}
              press={() => void views.remove(view)}>
              Delete it
            </Button>
            <Button class="quiet" press={() => (doing.value = null)}>
              Keep it
            </Button>
          </>
        )}
      </div>
    </li>
  )
}
