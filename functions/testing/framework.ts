/** A function in a process of its own, started by functions-framework as when deployed. */
import { functionOf, type Server, start, untilUp } from '../../infra/local/process.ts'

export interface FunctionProcess extends Server {
  /** Standard output and standard error so far. */
  output(): string
}

/**
 * Starts the function `target` of the module `source`, and waits until it takes connections.
 * @param env the environment beside PATH
 */
export async function startFunction(
  target: string,
  { source = 'functions/index.ts', env = {} }: { source?: string; env?: Record<string, string> } = {},
): Promise<FunctionProcess> {
  const server = await start({ ...functionOf(source, target, env), stderr: 'pipe' })
  let output = ''
  for (const stream of [server.child.stdout!, server.child.stderr!])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await untilUp(server)
  return { ...server, output: () => output }
}
