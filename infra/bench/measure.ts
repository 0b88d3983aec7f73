/** How things are measured by turns, compared by their medians, and printed. */

/** A line of the printed table. */
export interface Measurement {
  /** Of what against what. */
  name: string
  value: string
  /** The bound, where there is one. */
  target: string
  met: boolean | null
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

/** What this process spends on `act`, in milliseconds. */
export async function spentOn(act: () => unknown): Promise<Spent> {
  const started = performance.now()
  const cpu = await cpuOfThis(act)
  return { cpu, clock: performance.now() - started }
}

/** User and system time of this process during `act`, all threads together, in milliseconds. */
export async function cpuOfThis(act: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await act()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/**
 * The median of ours over the median of theirs.
 * @param bound the largest ratio that meets the target, or `null`
 */
export function compared(
  name: string,
  { ours, theirs, unit, bound }: { ours: number[]; theirs: number[]; unit: string; bound: number | null },
): Measurement {
  const [mine, other] = [median(ours), median(theirs)]
  return {
    name,
    value: `${(mine / other).toFixed(2)}x`,
    target: bound === null ? '' : `<= ${bound}x`,
    met: bound === null ? null : mine <= bound * other,
    note: `${rounded(mine)} ${unit} against ${rounded(other)}`,
  }
}

/** A line for the CPU time and one for the clock, with one bound for both. */
export function comparedBoth(
  name: string,
  { ours, theirs }: Record<'ours' | 'theirs', Spent[]>,
  bound: number | null,
): Measurement[] {
  const of = (which: keyof Spent) => ({
    ours: ours.map(each => each[which]),
    theirs: theirs.map(each => each[which]),
  })
  return [
    compared(`${name}, CPU`, { ...of('cpu'), unit: 'ms CPU', bound }),
    compared(`${name}, on the clock`, { ...of('clock'), unit: 'ms', bound }),
  ]
}

/** The median of our numbers against a fixed bound. */
export function bounded(
  name: string,
  { numbers, unit, bound }: { numbers: number[]; unit: string; bound: number },
): Measurement {
  const middle = median(numbers)
  return {
    name,
    value: `${rounded(middle)} ${unit}`,
    target: `<= ${bound} ${unit}`,
    met: middle <= bound,
    note: `${rounded(Math.min(...numbers))} to ${rounded(Math.max(...numbers))}`,
  }
}

function median(numbers: number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function rounded(number: number): string {
  return number < 10 ? number.toPrecision(2) : number.toFixed(0)
}

/** Prints a table of fixed width, which says for each target whether it is met. */
export function printTable(measurements: Measurement[]): void {
  const rows = measurements.map(({ name, value, target, met, note }) => {
    const verdict = met === null ? '' : met ? 'met' : 'MISSED'
    return [name, value, target, verdict, note]
  })
  const all = [['what', 'measured', 'target', '', 'medians'], ...rows]
  const widths = [0, 1, 2, 3].map(column => Math.max(...all.map(row => row[column]!.length)))
  const padded = all.map(row => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
  for (const line of padded) console.log(line.trimEnd())
}
