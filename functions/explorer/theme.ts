/** Light, dark, or as the system has it; kept on this device. */
import { effect, signal } from '@preact/signals'
import { readItem, writeItem } from './local-storage.ts'

export const themes = ['system', 'light', 'dark']

export const theme = signal(themes.find(name => name === readItem('theme')) ?? 'system')

// The scheme that `light-dark()` in the styles goes by.
effect(() => {
  document.documentElement.style.colorScheme = theme.value === 'system' ? '' : theme.value
})

export function setTheme(to: string): void {
  theme.value = to
  writeItem('theme', to === 'system' ? null : to)
}
