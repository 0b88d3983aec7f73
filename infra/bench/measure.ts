/** How things are measured by turns, compared by their medians, and printed. */
import { aligned, print } from '../lqe/print.ts'
import type { Target } from './targets.ts'

/** A line of the printed table. */
export interface Measurement {
  target: Target
  value: number
  /** The numbers behind the value. */
  note: string
}

/**
 * Measures each in turn, `rounds` times over: other load on the machine falls on all of them alike.
 * @param warmUp rounds before, which do not count
 * @returns what was measured of each, in order
 */
export async function alternately<Name extends string, T = number>(
  rounds: number,
  measures: Record<Name, () => T | Promise<T>>,
  warmUp = 0,
): Promise<Record<Name, T[]>> {
  if (warmUp > 0) await alternately(warmUp, measures)
  const names = Object.keys(measures) as Name[]
  const measured = Object.fromEntries(names.map(name => [name, []])) as unknown as Record<Name, T[]>
  for (let round = 0; round < rounds; round++)
    for (const name of names) measured[name].push(await measures[name]())
  return measured
}

/** CPU time, and time on the clock. */
export interface Spent {
  cpu: number
  clock: number
}

/** User and system time of this process during `act`, all threads together, in milliseconds. */
export async function cpuOfThis(act: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await act()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** The median of ours over the median of theirs. @param unit of the numbers */
export function compared(
  target: Target,
  { ours, theirs, unit }: { ours: number[]; theirs: number[]; unit: string },
): Measurement {
  const [mine, other] = [median(ours), median(theirs)]
  return { target, value: mine / other, note: `${rounded(mine)} ${unit} against ${rounded(other)}` }
}

/** The median of our numbers. */
export function bounded(target: Target, numbers: number[]): Measurement {
  const note = `${rounded(Math.min(...numbers))} to ${rounded(Math.max(...numbers))}`
  return { target, value: median(numbers), note }
}

function median(numbers: number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function rounded(number: number): string {
  return number < 10 ? number.toPrecision(2) : number.toFixed(0)
}

/** More than this times the earliest reference is drift, also where the target is met. */
const drift = 1.05

/** Prints a table of fixed width, which says for each target whether it is met, and whether it was better before. */
export function printTable(measurements: Measurement[]): void {
  const rows = measurements.map(({ target, value, note }) => {
    const { what, most, unit, bf5efd7, '8193ba3': later } = target
    const before = bf5efd7 ?? later
    const shown = (number: number | null) =>
      number === null ? '' : unit === 'x' ? `${number.toPrecision(3)}x` : `${number.toFixed(0)} ${unit}`
    const marks = [value <= most ? 'met' : 'MISSED', before !== null && value > drift * before ? 'DRIFT' : '']
    return [what, shown(value), `<= ${most} ${unit}`, marks.join(' '), shown(bf5efd7), shown(later), note]
  })
  const heads = ['what: against what', 'measured', 'target', '', 'bf5efd7', '8193ba3', 'medians']
  print(...aligned([heads, ...rows]))
}
