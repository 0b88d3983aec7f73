/** Which parts of the logs view are shown, as this device keeps it. */
import { type Signal, signal } from '@preact/signals'
import { readItem, writeItem } from '../local-storage.ts'

export type Shown = Record<'fields' | 'chart' | 'wrap', Signal<boolean>>

/** Whether there is no room beside the rows. */
export function onPhone(): MediaQueryList {
  return matchMedia('(max-width: 800px)')
}

export function shownParts(): Shown {
  const phone = onPhone()
  // Beside the rows they were, over them they are only where they are asked for.
  const fields = () => !phone.matches && keptPart('fields', innerWidth >= 1280)
  const shown = {
    fields: signal(fields()),
    chart: signal(keptPart('chart', true)),
    wrap: signal(keptPart('wrap', false)),
  }
  phone.addEventListener('change', () => (shown.fields.value = fields()))
  return shown
}

function keptPart(name: keyof Shown, byDefault: boolean): boolean {
  return (readItem(`show ${name}`) as boolean | null) ?? byDefault
}

/** Turns a part on or off. */
export function show(shown: Shown, name: keyof Shown, on: boolean): void {
  writeItem(`show ${name}`, on)
  shown[name].value = on
}
