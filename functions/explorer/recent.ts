/** The last views of an endpoint that were asked on this device. */
import { readItem, writeItem } from './local-storage.ts'
import { type Link, writeLink } from './address.ts'
import type { Endpoint } from './service.ts'
import { summaryOf } from './summary.ts'

const mostRecent = 20

/** Notes what is asked, as the newest; what says the same in words goes, such as with other columns. */
export function noteRecent(link: Link): void {
  const address = plainAddress(link)
  const text = summaryOf(address)
  const others = addressesOf(link.endpoint).filter(other => summaryOf(other) !== text)
  writeItem(`recent ${link.endpoint}`, [address, ...others].slice(0, mostRecent))
}

/** The last one first, a line for each question, in the words of the page. */
export function recentViews({ name, parameters }: Endpoint): { address: string; text: string }[] {
  const all = addressesOf(name).map(address => ({ address, text: summaryOf(address, parameters) }))
  return all.filter(({ text }, i) => all.findIndex(other => other.text === text) === i)
}

/** Those of queries that were kept before there were views come last. */
function addressesOf(endpoint: string): string[] {
  const history = (readItem(`history ${endpoint}`) as string[] | null) ?? []
  return [
    ...((readItem(`recent ${endpoint}`) as string[] | null) ?? []),
    ...history.map(sql => addressOfSql(endpoint, sql)),
  ].slice(0, mostRecent)
}

/** The open row is no part of a view. */
export function plainAddress(link: Link): string {
  return writeLink({ ...link, view: link.view.filter(([name]) => name !== 'row') })
}

/** Of a query that was kept before there were views. */
export function addressOfSql(endpoint: string, sql: string): string {
  return writeLink({ endpoint, values: {}, sql, view: [] })
}
