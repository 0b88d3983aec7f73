/** What public suffix a host has. */
import { domainToASCII } from 'node:url'
import { parse } from 'tldts'
import { scalar, type ScalarFunction } from './udf.ts'

/** More than any public suffix has. */
const mostLabels = 8

/**
 * The end of a host that has so many labels more than its public suffix; null where there is none. Only suffixes of ICANN's
 * count, a host may end with a dot, and labels before two dots do not count
 * (https://cloud.google.com/bigquery/docs/reference/standard-sql/net_functions#netpublic_suffix).
 */
function endOfHost(host: string, more: 0 | 1): string | null {
  const name = host.endsWith('.') ? host.slice(0, -1) : host
  const labels = name
    .slice(name.lastIndexOf('..') + 1)
    .split('.')
    .filter(Boolean)
  // Without tldts's own check of a host's letters, which a name with `_` fails.
  const { isIcann, publicSuffix } = parse(labels.slice(-mostLabels).map(asciiLabel).join('.'), {
    allowPrivateDomains: false,
    extractHostname: false,
    validateHostname: false,
  })
  if (!isIcann || !publicSuffix) return null
  const wanted = publicSuffix.split('.').length + more
  return wanted > labels.length ? null : labels.slice(-wanted).join('.') + host.slice(name.length)
}

/** A label of DNS has at most 63 letters; Punycode takes a time that grows with their square. */
function asciiLabel(label: string): string {
  return (label.length <= 63 && domainToASCII(label)) || label.toLowerCase()
}

export const netFunctions: Record<string, ScalarFunction> = {
  gsql_public_suffix: scalar(['VARCHAR'], 'VARCHAR', host => endOfHost(host, 0)),
  gsql_reg_domain: scalar(['VARCHAR'], 'VARCHAR', host => endOfHost(host, 1)),
}
