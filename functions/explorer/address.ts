/**
 * The open endpoint and its query, as the part of the address behind `#`: `#usage.api-counts?interval=daily&project=...`. Browsers keep
 * that part to themselves, so neither parameters nor SQL get into a log on the way. The key is not in it.
 */
export interface Link {
  endpoint: string
  values: Record<string, string>
  sql: string | null
  /** What the page itself keeps, in the order of the address: names and values; in the address their names begin with a dot. */
  view: [name: string, value: string][]
}

/** @param hash with or without its `#` @returns `null` where it names no endpoint */
export function readLink(hash: string): Link | null {
  const [endpoint = '', query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s)
  if (endpoint === '') return null
  const all = [...new URLSearchParams(query)]
  const own = ([name]: [string, string]) => name.startsWith('.')
  // The page reads JSON, whatever the address of a call had.
  const { sql = null, format: _, ...values } = Object.fromEntries(all.filter(pair => !own(pair)))
  const view = all.filter(own).map(([name, value]): [string, string] => [name.slice(1), value])
  return { endpoint: decoded(endpoint), values, sql, view }
}

/** @returns the part of the address with its `#`; parameters without a value are left out */
export function writeLink({ endpoint, values, sql, view }: Link): string {
  const own = new URLSearchParams(
    view.map(([name, value]): [string, string] => [`.${name}`, value]),
  ).toString()
  const query = [queryOf(values, sql), own].filter(Boolean).join('&')
  return `#${encodeURIComponent(endpoint)}${query === '' ? '' : `?${query}`}`
}

/** A query string, without empty values. */
export function queryOf(values: Record<string, string>, sql: string | null = null): string {
  const given = Object.entries(values).filter(([, value]) => value !== '')
  return new URLSearchParams(sql === null ? given : [...given, ['sql', sql]]).toString()
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
