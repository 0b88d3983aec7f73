/** What the benchmark promises is what the documents say. */
import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { targets } from './targets.ts'

test('each target is in the contributor’s page, and no other', () => {
  const page = readFileSync('infra/docs/contributing.md', 'utf8')
  const [, table = ''] = /\| what it costs: against what .*\n\|[-| ]+\n((?:\|.*\n)+)/.exec(page) ?? []
  const written = [...table.matchAll(/^\| (.+?) +\| ([\d.,/]+) ?(\w*) +\|$/gm)].map(
    ([, what, most, unit]) => [what, Number(most), unit],
  )
  const promised = Object.values(targets).map(({ what, most, unit }) => [what, most, unit])
  expect(written).toEqual(promised)
})
