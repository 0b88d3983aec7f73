/**
 * The only entry: settings -> services -> the functions by the names they are deployed under. `npm start` takes the services, too
 * (`infra/local/service.ts`).
 */
import { http } from '@google-cloud/functions-framework'
import { loadConfig } from '../shared/config.ts'
import { openRequestLog } from '../shared/request-log.ts'
import { openServices } from '../shared/services.ts'
import { patchFramework } from './http/framework.ts'
import { queryHandler } from './routes.ts'
import { warmHandler } from './warm/handler.ts'

export const config = loadConfig(process.env)
export const log = openRequestLog(config)
const stopping = new AbortController()
export const services = openServices(config, stopping.signal)
services.catch(() => {}) // each request that awaits it gets the error

patchFramework({
  log,
  host: config.listenHost,
  drainMs: config.drainMs,
  interrupt: () => stopping.abort(),
  close: async () => (await services).close(),
})

http('query', queryHandler({ services, config, log }))
http('warm', warmHandler({ services, config, log }))
