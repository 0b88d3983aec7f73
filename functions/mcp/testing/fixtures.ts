/**
 * The tools, resources and prompts that the conformance suite calls by name
 * (https://github.com/modelcontextprotocol/conformance, src/scenarios/server), for what this server's methods can answer.
 */
import {
  type CallToolResult,
  type GetPromptResult,
  inputRequired,
  MissingRequiredClientCapabilityError,
  type ReadResourceResult,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { invalidParams } from '../protocol-errors.ts'
import { messageAnswerer } from '../server.ts'

const bytes = Buffer.from('some bytes').toString('base64')
const text = { type: 'text' as const, text: 'text' }
const image = { type: 'image' as const, data: bytes, mimeType: 'image/png' }
const audio = { type: 'audio' as const, data: bytes, mimeType: 'audio/wav' }
const resourceAt = (uri: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType: 'text/plain', text: 'text' },
})

/** As those of endpoints: their answers are a result, and nothing else. */
const plain: Record<string, CallToolResult> = {
  test_simple_text: { content: [text] },
  test_image_content: { content: [image] },
  test_audio_content: { content: [audio] },
  test_embedded_resource: { content: [resourceAt('test://embedded')] },
  test_multiple_content_types: { content: [text, image, resourceAt('test://mixed')] },
  test_error_handling: { content: [text], isError: true },
}

type ToolAnswer = CallToolResult | ReturnType<typeof inputRequired>

const tools: Record<string, (context: ServerContext) => ToolAnswer | Promise<ToolAnswer>> = {
  ...Object.fromEntries(Object.entries(plain).map(([name, result]) => [name, () => result])),
  async test_tool_with_progress({ mcpReq }) {
    const progressToken = mcpReq._meta?.progressToken
    for (const progress of progressToken === undefined ? [] : [0, 50, 100])
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken: progressToken!, progress, total: 100 },
      })
    return { content: [text] }
  },
  test_missing_capability() {
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } })
  },
  test_streaming_elicitation: () =>
    inputRequired({
      inputRequests: {
        name: inputRequired.elicit({
          message: 'Name?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
        }),
      },
    }),
  async test_logging_tool({ mcpReq }) {
    await mcpReq.log('info', 'a line')
    return { content: [text] }
  },
}

const prompts: Record<string, (args: Record<string, string>) => GetPromptResult> = {
  test_simple_prompt: () => says(text),
  test_prompt_with_arguments: args => says({ type: 'text', text: JSON.stringify(args) }),
  test_prompt_with_embedded_resource: ({ resourceUri }) => says(resourceAt(resourceUri!)),
  test_prompt_with_image: () => says(image),
}

function says(content: GetPromptResult['messages'][number]['content']): GetPromptResult {
  return { messages: [{ role: 'user', content }] }
}

function readResource(uri: string): ReadResourceResult {
  const known = ['test://static-text', 'test://static-binary', 'test://template/123/data']
  if (!known.includes(uri)) throw invalidParams(`There is no resource ${uri}.`, { uri })
  const content = uri.endsWith('binary') ? { blob: bytes } : { text: uri }
  return { contents: [{ uri, mimeType: 'text/plain', ...content }] }
}

function named<T>(all: Record<string, T>, name: string): T {
  return all[name] ?? fail(name)
}

function fail(name: string): never {
  throw invalidParams(`There is no ${name}.`)
}

const schema = { type: 'object' as const }

/** Stands in the place of the endpoints' server, behind the same route. */
export const serveFixtures = messageAnswerer(() => {
  const capabilities = { tools: {}, resources: {}, prompts: {}, logging: {} }
  const server = new Server({ name: 'fixtures', version: '1' }, { capabilities })
  server.setRequestHandler('tools/list', () => ({
    tools: Object.keys(tools).map(name => ({ name, description: name, inputSchema: schema })),
  }))
  server.setRequestHandler('tools/call', ({ params }, context) => named(tools, params.name)(context))
  server.setRequestHandler('resources/list', () => ({
    resources: [{ uri: 'test://static-text', name: 'text' }],
  }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }))
  server.setRequestHandler('resources/read', ({ params }) => readResource(params.uri))
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.keys(prompts).map(name => ({ name, description: name })),
  }))
  server.setRequestHandler('prompts/get', ({ params }) => named(prompts, params.name)(params.arguments ?? {}))
  return server
})
