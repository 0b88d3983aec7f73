/** The three usual investigations, as prompts that a person may choose. */
import type { GetPromptResult, Prompt } from '@modelcontextprotocol/server'
import { echo, invalidParams, type McpCall, shortened } from './protocol-errors.ts'

const since = { name: 'since', description: 'From when: ISO 8601, or -1h', required: false }
const project = { name: 'project', description: 'Which project', required: true }

interface Investigation extends Prompt {
  /** What the model is asked, with the arguments in braces. */
  steps: string
}

const investigations: Investigation[] = [
  {
    name: 'find_failures',
    description: 'Find what fails, since when, and why',
    arguments: [project, since],
    steps:
      'Something fails in project {project} since {since}. Count errors by status and path over time with SQL on the edge logs; ' +
      'find when they began; then read the entries of the database, auth and function logs around that time. ' +
      'Say the cause, the first failing entry and the evidence, each with its time.',
  },
  {
    name: 'find_slow_requests',
    description: 'Find what is slow, and what changed',
    arguments: [project, since],
    steps:
      'Requests of project {project} are slow since {since}. Find the paths with the highest 95th percentile of their time, ' +
      'compare it with the hours before, and look for slow statements in the database log at the same times. ' +
      'Say which path, since when, and the likely cause.',
  },
  {
    name: 'follow_one_caller',
    description: 'Follow one user, address or request through all logs',
    arguments: [
      project,
      { name: 'who', description: 'A user id, request id or path', required: true },
      since,
    ],
    steps:
      'Collect the entries of {who} in project {project} since {since} from all tables, in order of time, and tell what happened.',
  },
]

/** Without the arguments that the key fixes, as with tools. */
export function listPrompts({ caller }: McpCall): Prompt[] {
  return investigations.map(({ steps: _, ...prompt }) => ({
    ...prompt,
    arguments: prompt.arguments!.filter(({ name }) => !Object.hasOwn(caller.pins, name)),
  }))
}

interface Asked {
  name: string
  arguments?: Record<string, string> | undefined
}

/** A prompt with its arguments filled in; a pin wins. @throws ProtocolError */
export function getPrompt({ caller }: McpCall, { name, arguments: sent = {} }: Asked): GetPromptResult {
  const args = { ...sent, ...caller.pins }
  const found = investigations.find(prompt => prompt.name === name)
  if (!found) throw invalidParams(`There is no prompt ${echo(name)}.`)
  const absent = found.arguments!.find(({ name: argument, required }) => required && !args[argument])
  if (absent) throw invalidParams(`The prompt ${name} needs ${absent.name}.`)
  const shown = caller.redacted ? echo : shortened
  const text = found.steps.replaceAll(/\{(\w+)\}/g, (_, argument: string) => shown(args[argument] ?? '-1h'))
  return { description: found.description!, messages: [{ role: 'user', content: { type: 'text', text } }] }
}
