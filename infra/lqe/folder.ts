/** The folder that a command works on: of one's own, with `queries/`, `tables/` and lqe.yaml, or the repository. */
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ConfigError, settings } from '../../shared/config.ts'
import { packageFolder } from '../../shared/package-folder.ts'
import { QueriesError, readYaml } from './apply/yaml.ts'

const file = 'lqe.yaml'

/** Endpoints of this folder; where there are none, those that ship. */
export function queriesFolder(): string {
  return existsSync('queries') ? 'queries' : join(packageFolder, 'queries')
}

/**
 * Goes to LQE_FOLDER, or to the nearest folder from here upwards that has an lqe.yaml, so that all paths of settings begin there;
 * what was typed begins where it was typed (`path.ts`). The file's settings become the environment's, unless that has them.
 * @throws ConfigError, QueriesError with line and column
 */
export function enterFolder(): void {
  const { env } = process
  const here = process.cwd()
  const folder = env['LQE_FOLDER'] ? resolve(env['LQE_FOLDER']) : (nearest(here) ?? here)
  if (!existsSync(folder)) throw new ConfigError(`LQE_FOLDER: ${folder} is not there`)
  env['INIT_CWD'] ??= here
  process.chdir(folder)
  if (!existsSync(file)) return
  const known = Object.values(settings).map(({ variable }) => variable)
  const { content, problem } = readYaml(file)
  for (const [name, value] of Object.entries(content ?? {})) {
    const refuse = (detail: string) => new QueriesError([problem(`/${name}`, detail, true)])
    if (!known.includes(name)) throw refuse('is no setting; infra/docs/reference.md, "Settings", has all')
    if (typeof value === 'object') throw refuse('must be a text or a number')
    env[name] ||= String(value)
  }
}

function nearest(folder: string): string | undefined {
  if (existsSync(join(folder, file))) return folder
  const above = dirname(folder)
  return above === folder ? undefined : nearest(above)
}
