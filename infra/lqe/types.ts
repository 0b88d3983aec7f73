/** `lqe types`: a TypeScript client for the endpoints that a key may call, made from their OpenAPI document. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Command } from 'commander'
import { openApiOf } from '../../functions/query/openapi.ts'
import { ConfigError } from '../../shared/config.ts'
import { asUsual } from '../../shared/data-folder.ts'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { listKeys, unknownKey } from '../../shared/keys/records.ts'
import type { Services } from '../../shared/services.ts'
import { visibleJson } from '../../shared/visible-text.ts'
import type { WithServices } from './command.ts'
import { typedPath } from './path.ts'
import { print, printData } from './print.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

interface TypesOptions {
  key?: string
  out?: string
}

/** Its action throws KeyError for an unknown key. */
export function typesCommand(withServices: WithServices) {
  return new Command('types')
    .description('write a TypeScript client for the endpoints that a key may call')
    .option('--key <id>', 'the id of a key, the part between lqe_ and the next _; by default every endpoint')
    .option('--out <file>', 'where the client goes; by default, or for -, it is printed', typedPath)
    .action((options: TypesOptions) => withServices(services => types(services, options)))
}

async function types(services: Services, { key, out }: TypesOptions): Promise<void> {
  const endpoints = await endpointsOf(services, key)
  const client = await clientFor(await openApiOf(endpoints, services.columnsOf))
  if (out === undefined || out === '-') return printData(client)
  asUsual(() => {
    mkdirSync(dirname(out), { recursive: true })
    writeFileSync(out, client)
  })
  print(`Wrote a client of ${endpoints.map(({ name }) => name).join(', ') || 'no endpoint'} to ${out}`)
}

/** @throws KeyError for an unknown key */
async function endpointsOf({ endpoints, store }: Services, keyId: string | undefined): Promise<Endpoint[]> {
  const all = await endpoints.all()
  if (keyId === undefined) return all
  const key = (await listKeys(store)).find(({ id }) => id === keyId)
  if (!key) throw unknownKey()
  return all.filter(({ name }) => key.endpoints === '*' || key.endpoints.includes(name))
}

/** The generator reads and writes files. It is loaded here alone: other commands, and an installed package, do without it. */
async function clientFor(document: object): Promise<string> {
  const { generateApi } = await import('swagger-typescript-api').catch(() => {
    throw new ConfigError('lqe types needs a package: npm install --save-dev swagger-typescript-api')
  })
  return inTemporaryFolder('lqe-types', async folder => {
    const input = join(folder, 'openapi.json')
    writeFileSync(input, JSON.stringify(document))
    // Node runs no `enum`: it takes types away and writes nothing in their place.
    const options = { enumStyle: 'union', silent: true, cleanOutput: false } as const
    await generateApi({ input, output: folder, fileName: 'api.ts', ...options })
    // JSON's escapes are those of TypeScript's literals.
    return visibleJson(readFileSync(join(folder, 'api.ts'), 'utf8'))
  })
}
