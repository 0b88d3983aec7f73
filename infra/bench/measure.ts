/** What the benchmark prints. */
export interface Measurement {
  /** What is compared with what. */
  name: string
  value: string
  /** The bound of the design, where there is one. */
  target: string
  met: boolean | null
  /** The numbers behind the value. */
  note: string
}

/**
 * The median of ours over the median of theirs.
 * @param bound the ratio that is wanted at most, or `null`
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

/** The median of what was measured, with a bound of its own. */
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

export function median(numbers: number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function rounded(number: number): string {
  return number < 10 ? number.toPrecision(2) : number.toFixed(0)
}

/** Rows as a table of fixed width, with a mark for each target. */
export function printTable(measurements: Measurement[]): void {
  const rows = measurements.map(({ name, value, target, met, note }) => {
    const verdict = met === null ? '' : met ? 'met' : 'MISSED'
    return [name, value, target, verdict, note]
  })
  const all = [['what', 'measured', 'target', '', 'medians'], ...rows]
  const widths = [0, 1, 2, 3].map(column => Math.max(...all.map(row => row[column]!.length)))
  for (const row of all)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}
