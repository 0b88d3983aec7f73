/** `lqe init`: makes a folder of one's own, in which the other commands work. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { Command, Option } from 'commander'
import { packageFolder } from '../../../shared/package-folder.ts'
import { version } from '../../../shared/version.ts'
import { typedIn, typedPath } from '../path.ts'
import { print } from '../print.ts'

/** From where in the package, to where in the folder. */
type Copies = readonly (readonly [from: string, to: string])[]

const here = 'infra/lqe/init'
const common: Copies = [
  [`${here}/folder/README.md`, 'README.md'],
  [`${here}/folder/lqe.yaml`, 'lqe.yaml'],
  [`${here}/folder/gitignore`, '.gitignore'], // npm packs no file of that name
]
const templates: Record<string, Copies> = {
  own: [
    [`${here}/own`, '.'],
    ['infra/docs/own-logs/app/app.latest.sql', 'queries/app.latest.sql'],
    ['infra/docs/own-logs/app/app.latest.yaml', 'queries/app.latest.yaml'],
  ],
  supabase: [
    ['queries', 'queries'],
    ['infra/tables', 'tables'],
  ],
}
const builds: Record<string, Copies> = {
  cloudbuild: [[`${here}/ci/cloudbuild.yaml`, 'cloudbuild.yaml']],
  github: [[`${here}/ci/github.yaml`, '.github/workflows/lqe.yaml']],
}

export function initCommand(): Command {
  return new Command('init')
    .description('make a folder of your own: queries/, tables/, lqe.yaml; what is there stays')
    .argument('[folder]', 'by default this one', typedPath, typedPath('.'))
    .addOption(
      new Option('--template <name>', 'own: an endpoint over a table of yours; supabase: those that ship')
        .choices(Object.keys(templates))
        .default('own'),
    )
    .addOption(new Option('--ci <name>', 'releases each push').choices(Object.keys(builds)))
    .action(init)
}

function init(typed: string, { template, ci }: { template: string; ci?: string }): void {
  const folder = resolve(typed)
  for (const [from, to] of [...common, ...templates[template]!, ...(ci ? builds[ci]! : [])])
    for (const file of filesIn(join(packageFolder, from)))
      put(folder, join(to, file), () => inFolder(readFileSync(join(packageFolder, from, file), 'utf8')))
  put(folder, 'package.json', () => `${JSON.stringify(manifestFor(folder), null, 2)}\n`)
  const way = relative(typedIn(), folder)
  print('', `Next: ${way ? `cd ${way} && ` : ''}npm install && npx lqe start`)
}

/** Paths within a folder; of a file the empty one. The service's own table ships with each version. */
function filesIn(path: string): string[] {
  if (statSync(path).isFile()) return ['']
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' })
  return names.filter(name => statSync(join(path, name)).isFile() && name !== 'service.requests.json')
}

function put(folder: string, name: string, contents: () => string): void {
  const file = join(folder, name)
  if (existsSync(file)) return print(`= ${name} is there, and stays`)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, contents())
  print(`+ ${name}`)
}

/** Schemas for editors are in the package. */
function inFolder(text: string): string {
  return text.replace(/\$schema=\.\.\/(?!node_modules)/, '$schema=../node_modules/log-query-endpoints/')
}

function manifestFor(folder: string): object {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
  const scripts = { start: 'lqe start', test: 'lqe test' }
  return { name, private: true, scripts, dependencies: { 'log-query-endpoints': `^${version}` } }
}
