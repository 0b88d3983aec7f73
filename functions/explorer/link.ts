/**
 * The open endpoint and its query, as the part of the address behind `#`: `#usage.api-counts?interval=daily&project=...`. Browsers keep
 * that part to themselves, so neither parameters nor SQL get into a log on the way. The key is not in it.
 */
export interface Link {
  endpoint: string
  values: Record<string, string>
  sql: string | null
}

export function readLink(hash: string): Link | null {
  const [endpoint = '', query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s)
  if (endpoint === '') return null
  const { sql = null, ...values } = Object.fromEntries(new URLSearchParams(query))
  return { endpoint: decoded(endpoint), values, sql }
}

export function writeLink({ endpoint, values, sql }: Link): string {
  const query = queryOf(values, sql)
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
