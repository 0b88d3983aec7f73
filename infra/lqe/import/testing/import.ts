/** Imports of texts into a folder that ends with the test. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, loadConfig } from '../../../../shared/config.ts'
import { openServices, type Services } from '../../../../shared/services.ts'
import { QueriesError } from '../../apply/yaml.ts'
import { importAll } from '../command.ts'

interface Outcome {
  /** What was printed. */
  lines: string[]
  /** `line:column reason` of each refusal. */
  refused: string[]
}

interface Options {
  force?: boolean
  dryRun?: boolean
  environment?: Record<string, string>
}

export class Import {
  readonly folder = mkdtempSync(join(tmpdir(), 'import-'))
  readonly queries = join(this.folder, 'queries')
  readonly config: Config
  private opened: Promise<Services> | undefined

  /** @param settings beside the folder of data */
  constructor(settings: Record<string, string> = {}) {
    this.config = loadConfig({ DATA_DIR: join(this.folder, 'data'), ENGINE_PROCESSES: '0', ...settings })
  }

  services(): Promise<Services> {
    return (this.opened ??= openServices(this.config))
  }

  async close(): Promise<void> {
    await (await this.opened)?.close()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** @param name of the imported file */
  run(name: string, text: string, options: Options = {}): Promise<Outcome> {
    return this.runAll({ [name]: text }, options)
  }

  /** @param texts of the imported files, by their names */
  async runAll(
    texts: Record<string, string>,
    { force = false, dryRun = false, environment = {} }: Options = {},
  ): Promise<Outcome> {
    const files = Object.keys(texts).map(name => join(this.folder, name))
    for (const [i, text] of Object.values(texts).entries()) writeFileSync(files[i]!, text)
    const lines: string[] = []
    const { engine, endpoints } = await this.services()
    const stored = await endpoints.all()
    const target = {
      engine,
      stored,
      queries: this.queries,
      tablesFolder: this.config.tablesDir,
      force,
      environment,
      dryRun,
    }
    const out = (line: string) => void lines.push(line.replaceAll(`${this.folder}/`, ''))
    const refused = await importAll(files, { ...target, out }).then(
      () => [],
      (error: unknown) => {
        if (!(error instanceof QueriesError)) throw error
        return error.problems.map(({ line, column, detail }) => `${line}:${column} ${detail}`)
      },
    )
    return { lines, refused: refused.map(line => line.replaceAll(`${this.folder}/`, '')) }
  }

  read(file: string): string {
    return readFileSync(join(this.queries, file), 'utf8')
  }
}
