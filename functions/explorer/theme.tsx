/** Light, dark, or as the system has it; kept on this device. */
import { effect, signal } from '@preact/signals'
import { Button } from './controls.tsx'
import { readItem, writeItem } from './local-storage.ts'

const themes = ['system', 'light', 'dark']

const theme = signal(themes.find(name => name === readItem('theme')) ?? 'system')

// The scheme that `light-dark()` in the styles goes by.
effect(() => {
  document.documentElement.style.colorScheme = theme.value === 'system' ? '' : theme.value
})

/** Names the theme; a press goes on to the next one. */
export function Theme() {
  const press = () => {
    theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length]!
    writeItem('theme', theme.value === 'system' ? null : theme.value)
  }
  return (
    <Button class="quiet" press={press}>
      Theme: {theme.value}
    </Button>
  )
}
