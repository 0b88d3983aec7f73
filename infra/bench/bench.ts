/**
 * `npm run bench -- [section...]`: what `targets.ts` promises, as ratios of what runs side by side, with CPU time from the
 * operating system. A missed target, and one that was met better by an earlier commit, is marked and does not fail.
 */
import { Argument, Command } from 'commander'
import { callersOfOneKey } from './sections/callers.ts'
import { cold } from './sections/cold.ts'
import { hot } from './sections/hot.ts'
import { memory } from './sections/memory.ts'
import { miss } from './sections/miss.ts'
import { newest, newestOfTen } from './sections/newest.ts'
import { redact } from './sections/redact.ts'
import { rollup } from './sections/rollup.ts'
import { openSite, type Site } from './site.ts'
import { type Measurement, printTable } from './measure.ts'

const sections: Record<string, (site: Site) => Promise<Measurement[]>> = {
  hot,
  cold,
  miss,
  redact,
  callers: callersOfOneKey,
  memory,
  newest,
  rollup,
  newestOfTen,
}

/** Left out unless named: it makes ten million rows first. */
const large = 'newestOfTen'

async function measure(names: string[]): Promise<void> {
  const site = await openSite()
  const measurements: Measurement[] = []
  try {
    for (const name of names) {
      console.error(`measuring: ${name}`)
      measurements.push(...(await sections[name]!(site)))
    }
  } finally {
    await site.close()
  }
  printTable(measurements)
}

const all = Object.keys(sections)

await new Command('bench')
  .description('Compare the service with the least that could do the same work')
  .addArgument(new Argument('[section...]', `what to measure; by default all but ${large}`).choices(all))
  .action((named: string[]) => measure(named.length > 0 ? named : all.filter(name => name !== large)))
  .parseAsync()
