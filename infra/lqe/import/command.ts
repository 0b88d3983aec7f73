/** `lqe import`: endpoints of Logflare and MCP Toolbox as files of ours. */
import { Command } from 'commander'
import type { WithServices } from '../command.ts'
import { type FileProblem, problemOf, QueriesError } from '../apply/yaml.ts'
import { readText, typedPath } from '../path.ts'
import { type Around, fileName, type Reading } from './draft.ts'
import { readLogflare } from './logflare.ts'
import { readToolbox } from './toolbox.ts'
import { endpointsIn, type Target, write } from './write.ts'
import { print } from '../print.ts'

/** A file is of the first format whose `sign` it has. */
const formats: { sign: RegExp; read: (file: string, text: string, around: Around) => Reading }[] = [
  { sign: /^\s*[[{]/, read: readLogflare },
  { sign: /^(tools|sources|toolsets|kind)\s*:/m, read: readToolbox },
]

interface CommandOptions {
  queries: string
  dryRun: boolean
  force: boolean
}

/** Its action throws QueriesError for what it does not write. @param environment for `${NAME}` in tools.yaml */
export function importCommand(
  withServices: WithServices,
  tablesFolder: () => string,
  environment: NodeJS.ProcessEnv,
): Command {
  return new Command('import')
    .description('make endpoints of Logflare (JSON) or MCP Toolbox (tools.yaml)')
    .argument('<file...>', 'as Logflare’s API answers, or tools.yaml; - for standard input')
    .option('--dry-run', 'only print what would be written', false)
    .option('--force', 'replace files that are there', false)
    .option('--queries <folder>', 'where <name>.sql and <name>.yaml go', typedPath, 'queries')
    .action((files: string[], options: CommandOptions) =>
      withServices(async ({ engine, endpoints }) =>
        importAll(files.map(typedPath), {
          ...options,
          engine,
          stored: await endpoints.all(),
          tablesFolder: tablesFolder(),
          environment,
          out: text => print(...text.split('\n')),
        }),
      ),
    )
}

/**
 * Writes what fits.
 * @throws QueriesError with what does not, by file, line and column
 */
export async function importAll(files: string[], target: Target): Promise<void> {
  const refused: FileProblem[] = []
  const made = new Set<string>()
  const known = endpointsIn(target.queries)
  const texts = files.map(textOf)
  const { environment } = target
  const around = { texts: texts.filter(text => typeof text === 'string'), environment }
  const readings = files.map((file, at) => ({ file, ...readingOf(file, texts[at]!, around) }))
  const read = readings.flatMap(({ drafts }) => drafts.map(({ name }) => fileName(name)))
  const names = new Set([...known.keys(), ...target.stored.map(({ name }) => name), ...read])
  for (const { file, ...reading } of readings) {
    const problems = [...reading.refused]
    for (const draft of reading.drafts) {
      const name = fileName(draft.name)
      const problem = made.has(name)
        ? { file, ...draft.place, detail: `${draft.name}: has the name of an endpoint before it` }
        : await write(file, draft, { ...target, files: known, names })
      if (problem) problems.push(problem)
      else {
        made.add(name)
        known.set(name, { id: String(draft.definition['id']), queries: [] })
      }
    }
    refused.push(...problems.sort((a, b) => a.line - b.line || a.column - b.column))
  }
  const done = target.dryRun ? 'to import; nothing was written (--dry-run)' : `imported to ${target.queries}`
  target.out(`${made.size} ${done}; ${refused.length} refused.`)
  QueriesError.assertNone(refused)
}

function readingOf(file: string, text: string | FileProblem, around: Around): Reading {
  if (typeof text !== 'string') return { drafts: [], refused: [text] }
  const format = formats.find(({ sign }) => sign.test(text))
  if (!format) return { drafts: [], refused: [problemOf(file, unknownFormat)] }
  const refused: FileProblem[] = []
  return QueriesError.gather(refused, () => format.read(file, text, around)) ?? { drafts: [], refused }
}

const unknownFormat =
  'is neither JSON of Logflare’s endpoints nor a tools.yaml of MCP Toolbox (tools: or kind:)'

function textOf(file: string): string | FileProblem {
  const read = readText(file, 'pipe it in, cat FILE | npx lqe import -')
  return 'fault' in read ? problemOf(file, read.fault) : read.text
}
