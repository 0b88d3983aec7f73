/** Logical table names and the real ones behind them. Statements carry logical names; only BigQuery sees the others. */

export interface TableMapping {
  /** `project.dataset`, or `dataset` of the jobs' project: holds the tables that `tables` does not name. */
  dataset: string
  /** `project.dataset.table` by logical name. */
  tables: ReadonlyMap<string, string>
}

/** The real names of tables, for jobs in one project. */
export class TableNames {
  private readonly mapping: TableMapping
  private readonly project: string

  /** @param project in which the jobs run */
  constructor(mapping: TableMapping, project: string) {
    this.mapping = mapping
    this.project = project
  }

  /** `project.dataset.table`. Characters other than letters and digits, dots above all, are `_` in the real name. */
  real(logical: string): string {
    return this.mapping.tables.get(logical) ?? this.ofDataset(logical)
  }

  /** The same in the settings' dataset, whatever the mapping says. */
  ofDataset(logical: string): string {
    const { dataset } = this.mapping
    const qualified = dataset.includes('.') ? dataset : `${this.project}.${dataset}`
    return `${qualified}.${logical.replaceAll(/[^A-Za-z0-9_]/g, '_')}`
  }

  /** Words that must not be in a message to a caller: these tables, their datasets and projects, and the jobs' project. */
  hidden(realNames: Iterable<string>): string[] {
    const words = [...realNames].flatMap(real => [real, ...partsOf(real)])
    return [this.project, ...words.filter(word => word !== '')]
  }
}

/** Of `project.dataset.table`; a project may have dots of its own. */
export function partsOf(real: string): [project: string, dataset: string, table: string] {
  const [, project = '', dataset = '', table = ''] = /^(.+)\.([^.]+)\.([^.]+)$/.exec(real) ?? []
  return [project, dataset, table]
}
