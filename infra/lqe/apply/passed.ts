/** What passed checks of `apply` on this machine, so that the same need not be checked again. */
import { randomUUID } from 'node:crypto'
import { globSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { sha256 } from '../../../shared/key-text.ts'
import { packageFolder } from '../../../shared/package-folder.ts'
import type { FileProblem } from './yaml.ts'

/** The program that checks: all that can answer, and the checks, with the versions of what they use. */
const program = ['package.json', 'package-lock.json', '{functions,shared,infra}/**/*.{ts,json}', 'dist/*.js']
const others = ['**/*.{test,soak}.ts', '**/testing', 'functions/explorer', 'infra/{bench,deploy,google}']

/** Paths from the root, sorted. */
export function programFiles(): string[] {
  return globSync(program, { cwd: packageFolder, exclude: others }).toSorted()
}

/** More are forgotten, the oldest first. */
const most = 1_000

/** Makes a check, unless these files passed it before; by default all files of the folder of endpoints count. */
export type Unless = (
  check: string,
  make: () => Promise<FileProblem[]>,
  files?: string[],
) => Promise<FileProblem[]>

/** Remembered as hashes, a line each, in a file of the data folder; where that cannot be written, all is checked again. */
export class Passed {
  readonly #file: string
  /** Of the program and the table schemas. */
  readonly #surroundings: string
  /** The files of the folder of endpoints, as they were before they were read. */
  readonly #digests: ReadonlyMap<string, string>

  /** @param folders whose files are checked, and against which: the endpoints', the table schemas' */
  constructor(dataDir: string, queries: string, tablesFolder: string) {
    this.#file = join(dataDir, 'apply-passed')
    const parts = programFiles().map(path => join(packageFolder, path))
    const surroundings = [...parts, ...filesIn(tablesFolder)].map(digestOf)
    this.#surroundings = JSON.stringify([process.version, surroundings])
    this.#digests = new Map(filesIn(queries).map(path => [path, digestOf(path)]))
  }

  readonly unless: Unless = async (check, make, files = [...this.#digests.keys()]) => {
    const digests = files.map(file => this.#digests.get(file))
    const hash = sha256(JSON.stringify([check, this.#surroundings, digests]))
    if (this.#all().includes(hash)) return []
    const problems = await make()
    const isSame = files.length > 0 && files.every((file, i) => digestOf(file) === digests[i])
    if (problems.length === 0 && isSame) this.#remember(hash)
    return problems
  }

  #all(): string[] {
    try {
      return readFileSync(this.#file, 'utf8').split('\n')
    } catch {
      return []
    }
  }

  #remember(hash: string): void {
    try {
      writeFileSync(this.#file, [hash, ...this.#all().slice(0, most - 1)].join('\n'))
    } catch {}
  }
}

/** A folder's name is no pattern. One that cannot be listed is as a file that cannot be read. */
function filesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter(name => /\.(?:sql|yaml|json)$/.test(name))
    return names.toSorted().map(name => join(folder, name))
  } catch {
    return [folder]
  }
}

/** Of the file's name and content; what cannot be read is never the same. */
function digestOf(path: string): string {
  try {
    // A pipe without a writer never ends.
    return statSync(path).isFile()
      ? sha256(JSON.stringify([basename(path), readFileSync(path, 'utf8')]))
      : randomUUID()
  } catch {
    return randomUUID()
  }
}
