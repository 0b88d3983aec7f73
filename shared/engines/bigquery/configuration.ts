import type { RunLimits } from '../engine.ts'
import type { JobConfiguration } from './rest.ts'
import type { SentStatement } from './statement.ts'

/** A job without a default dataset: a name that is not complete finds no table. */
export function configurationOf({ sql, parameters }: SentStatement): JobConfiguration {
  return {
    query: {
      query: sql,
      useLegacySql: false,
      // BigQuery keeps results of its own for a day, free of charge, until a table changes.
      useQueryCache: true,
      ...(parameters.length > 0 ? { parameterMode: 'NAMED', queryParameters: parameters } : {}),
    },
  }
}

/** @param maxBytes the most that any job may bill, `null` = no limit of the service */
export function limited(
  { query, ...job }: JobConfiguration,
  limits: RunLimits,
  maxBytes: number | null,
): JobConfiguration {
  const bytes = Math.min(limits.maxBytes ?? Infinity, maxBytes ?? Infinity)
  return {
    ...job,
    query: { ...query, ...(bytes === Infinity ? {} : { maximumBytesBilled: String(bytes) }) },
    // Should this process die, the job still ends.
    jobTimeoutMs: String(limits.timeoutMs),
    labels: labelsOf(limits.labels ?? {}),
  }
}

/** A label has at most 63 lower-case letters, digits, `_` and `-`. */
function labelsOf(labels: Record<string, string>): Record<string, string> {
  const entries = Object.entries(labels).map(([name, value]) => [labelText(name), labelText(value)] as const)
  return Object.fromEntries(entries)
}

function labelText(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]/g, '_')
    .slice(0, 63)
}
