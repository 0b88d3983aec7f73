/**
 * Format numbers of what is stored, one for each kind. No number means format 1,
 * from before there were numbers. Older formats are read; a newer one was written by a later version of this program.
 *
 * A number is raised where code of before would misread the new form, not for a field that it may leave alone: first a version
 * reads the new form, by one number more in `isReadable`, then a later one writes it (infra/docs/changelog.md, "Going back"). Each has a fixture in
 * `shared/testing/formats/`, named after the version that first wrote it.
 */
import { ApiError } from '../errors.ts'
import { StoreError } from './store.ts'

export const formats = {
  /** `endpoints` and `endpointVersions`. */
  definition: 1,
  key: 1,
  /** The document of channels of alerts. */
  channels: 1,
  issuer: 1,
  /** `stored` of `answers`: the summary, and the bytes that it names. */
  answer: 1,
  /** `secrets/cursors`. */
  secret: 1,
  /** `views`. */
  view: 1,
  /** The text that callers have. */
  cursor: 1,
  /** The tables of SQLite's file. */
  file: 1,
  /** The record of a log table's loads, on a laptop. */
  loads: 1,
  /** `alerts`: the state of an alert. */
  alert: 1,
  /** What `lqe store export` writes. */
  export: 1,
}

type Kind = keyof typeof formats

/** @param format as it was read; absent = 1 */
export function isReadable(kind: Kind, format: unknown = 1): boolean {
  return typeof format === 'number' && format <= formats[kind]
}

/**
 * For what cannot be done without.
 * @param what words for it: `The definition of logs.all`
 * @throws ApiError `internal`
 */
export function assertReadable(kind: Kind, { format }: { format?: unknown }, what: string): void {
  if (isReadable(kind, format)) return
  const words = `${what} was stored by a later version of this service (format ${String(format)}; this one reads up to ${formats[kind]}).`
  throw new ApiError('internal', words, { cause: new StoreError('newer_format', words) })
}
