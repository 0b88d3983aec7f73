/** SQL to and from files, and menus that stand at their names. */
import type { Signal } from '@preact/signals'
import type { ComponentChildren, TargetedEvent } from 'preact'
import { useRef } from 'preact/hooks'
import { Button } from '../controls.tsx'
import { download } from '../copy.ts'

export function SqlFiles({ text }: { text: Signal<string> }) {
  const file = useRef<HTMLInputElement>(null)
  const save = () => download('query.sql', `${text.value.trim()}\n`, 'application/sql')
  const open = async ([chosen]: File[]) => {
    if (chosen) text.value = (await chosen.text()).trim()
  }
  return (
    <>
      <Button press={save}>Export</Button>
      <Button press={() => file.current!.click()}>Import</Button>
      <input
        type="file"
        ref={file}
        accept=".sql"
        hidden
        aria-label="A file of SQL"
        onChange={({ currentTarget }) => void open([...(currentTarget.files ?? [])])}
      />
    </>
  )
}

interface PickMenuProps {
  label: string
  /** What it shows. */
  name: string
  pick?: ((value: string) => void) | undefined
  children?: ComponentChildren
}

/** A menu that stands at its name again once something was picked. */
export function PickMenu({ label, name, pick, children }: PickMenuProps) {
  const onChange = ({ currentTarget: menu }: TargetedEvent<HTMLSelectElement>) => {
    if (menu.value !== '') pick?.(menu.value)
    menu.value = ''
  }
  return (
    <select aria-label={label} disabled={!pick} onChange={onChange}>
      <option value="">{name}</option>
      {children}
    </select>
  )
}
