/** The last views of an endpoint that were asked on this device. */
import { readItem, writeItem } from './local-storage.ts'
import { type Link, writeLink } from './link.ts'

const mostRecent = 20

/** Notes what is asked, as the newest. */
export function noteRecent(link: Link): void {
  const address = plainAddress(link)
  const others = recentViews(link.endpoint).filter(other => other !== address)
  writeItem(`recent ${link.endpoint}`, [address, ...others].slice(0, mostRecent))
}

/** Addresses, the last one first, then those of queries that were kept before there were views. */
export function recentViews(endpoint: string): string[] {
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
