import { expect, test } from '@jest/globals'
import { choosing, keys, keyText, where } from './shortcuts.ts'

test('a key is shown as keyboards have it', () => {
  const names = ['Search', 'Close the entry', 'Run', 'All commands', 'Complete SQL', 'Change key']
  expect(names.map(keyText)).toEqual(['/', 'Esc', 'Ctrl-Enter', 'Ctrl-K', 'Ctrl-Space', ''])
})

test('no key does two things', () => {
  expect(new Set(Object.values(keys)).size).toBe(Object.keys(keys).length)
})

test('of what excludes one another the others are offered, and only where they can be', () => {
  const chosen: string[] = []
  const themes = ['light', 'dark'].map(name => [name, () => chosen.push(name)] as const)
  const commands = choosing('Theme', 'light', themes)
  commands['Theme: dark']!()
  expect([Object.keys(commands), chosen]).toEqual([['Theme: dark'], ['dark']])
  expect([where(true, commands), where(false, commands)]).toEqual([commands, {}])
})
