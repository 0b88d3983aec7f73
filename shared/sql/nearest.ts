/** The candidate most like a misspelt name, or `null` where none is near. Letter case, underscores and spaces do not count. */
export function nearestName(name: string, candidates: Iterable<string>): string | null {
  const wanted = plain(name)
  let best: string | null = null
  let allowed = Math.max(1, Math.floor(wanted.length / 4))
  for (const candidate of new Set(candidates)) {
    const distance = editDistance(wanted, plain(candidate))
    if (distance > allowed || (best !== null && distance === allowed)) continue
    best = candidate
    allowed = distance
  }
  return best
}

/** What to write in place of an unknown name: the nearest one, or one of all. */
export function nameHint(name: string, known: Iterable<string>): string {
  const all = [...new Set(known)]
  const near = nearestName(name, all)
  return near === null || near === name ? `here are ${all.join(', ') || 'none'}` : `did you mean ${near}?`
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_ ]/g, '').slice(0, 100)
}

/** Letters to insert, delete, replace or swap with the next (optimal string alignment), row by row. */
function editDistance(a: string, b: string): number {
  let twoAbove: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(replaced, above[j]! + 1, row[j - 1]! + 1))
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) row[j] = Math.min(row[j]!, twoAbove[j - 2]! + 1)
    }
    twoAbove = above
    above = row
  }
  return above[b.length]!
}
