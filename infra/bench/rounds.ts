/** Taking turns: what disturbs the machine disturbs all that are compared alike. */

/** Measures each in turn, `rounds` times over. The numbers of each, in order. */
export async function alternately<Name extends string>(
  rounds: number,
  measures: Record<Name, () => number | Promise<number>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(measures) as Name[]
  const numbers = Object.fromEntries(names.map(name => [name, []])) as unknown as Record<Name, number[]>
  for (let round = 0; round < rounds; round++)
    for (const name of names) numbers[name].push(await measures[name]())
  return numbers
}

/** User and system time that this process spends on something, all its threads together, in milliseconds. */
export async function cpuOfThis(act: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await act()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
