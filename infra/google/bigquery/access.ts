/** Who may do what: asked before each call, and refused in BigQuery's words. */
import { BigQueryError } from './errors.ts'

/**
 * @param token the caller's bearer token
 * @param permission such as `bigquery.tables.getData`
 * @param resource its name in IAM: `projects/p`, `projects/p/datasets/d` or `projects/p/datasets/d/tables/t`. What is granted
 *   on what it is in counts for it.
 */
export type Permits = (token: string, permission: string, resource: string) => boolean

/** Of one call. */
export class Caller {
  /** `null` = nobody is asked who they are. */
  readonly token: string | null
  private readonly permits: Permits | null

  /** @throws BigQueryError without a token, where callers are checked */
  constructor(permits: Permits | null, authorization: string | undefined) {
    this.permits = permits
    this.token = permits && (/^Bearer (.+)$/.exec(authorization ?? '')?.[1] ?? null)
    if (permits && this.token === null)
      throw new BigQueryError('required', 'Request is missing required authentication credential.')
  }

  /**
   * @param name `project`, `project.dataset` or `project.dataset.table`
   * @throws BigQueryError
   */
  demand(permission: string, name: string): void {
    const parts = name.split('.')
    const kinds = ['projects', 'datasets', 'tables']
    const resource = parts.map((part, at) => `${kinds[at]}/${part}`).join('/')
    if (this.permits?.(this.token!, permission, resource) === false)
      throw new BigQueryError('accessDenied', refusal(permission, parts))
  }
}

/** As `googleapis/python-bigquery` and others quote them in issues. */
function refusal(permission: string, [project, dataset, table]: string[]): string {
  if (dataset === undefined)
    return `Access Denied: Project ${project}: User does not have ${permission} permission in project ${project}.`
  const [kind, id] =
    table === undefined ? ['Dataset', `${project}:${dataset}`] : ['Table', `${project}:${dataset}.${table}`]
  const why =
    permission === 'bigquery.tables.getData'
      ? `User does not have permission to query table ${id}, or perhaps it does not exist.`
      : `Permission ${permission} denied on ${kind.toLowerCase()} ${id} (or it may not exist).`
  return `Access Denied: ${kind} ${id}: ${why}`
}
