/** What passed all checks of `apply` on this machine, so that the same need not be checked again. */
import { createHash } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../..')

/** The program that checks: the engine, what it makes of SQL, and the checks. */
const program = ['package.json', 'shared/**/*.ts', 'infra/lqe/{apply,endpoint-tests}/*.ts']

/** Remembered as one hash, in a file of the data folder. */
export class Passed {
  readonly #file: string
  readonly #hash: string

  /**
   * @param folders whose files are checked, and against which: the endpoints', the table schemas'
   * @param checks tells which ones are made
   */
  constructor(dataDir: string, folders: string[], checks: unknown) {
    this.#file = join(dataDir, 'apply-passed')
    const hash = createHash('sha256').update(JSON.stringify([folders, checks]))
    const paths = [
      ...globSync(program, { cwd: root, exclude: ['**/*.{test,soak}.ts', '**/testing'] }).map(path =>
        join(root, path),
      ),
      ...folders.flatMap(folder => globSync(join(folder, '*.{sql,yaml,json}'))),
    ]
    for (const path of paths.sort()) hash.update(`${path}\n`).update(readFileSync(path)).update('\n')
    this.#hash = hash.digest('hex')
  }

  /** Whether all that decides the checks is as it was when they last passed. */
  get already(): boolean {
    try {
      return readFileSync(this.#file, 'utf8') === this.#hash
    } catch {
      return false
    }
  }

  remember(): void {
    writeFileSync(this.#file, this.#hash)
  }
}
