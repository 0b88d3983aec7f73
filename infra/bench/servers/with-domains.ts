/** `functions/index.ts` with the framework's domains, see infra/docs/surgery.md, "functions-framework". */
import domain from 'node:domain'
import { http } from '@google-cloud/functions-framework'
import { loadConfig } from '../../../shared/config.ts'
import { openRequestLog } from '../../../shared/request-log.ts'
import { openServices } from '../../../shared/services.ts'
import { patchFramework } from '../../../functions/http/framework.ts'
import { queryHandler } from '../../../functions/query/routes.ts'

const config = loadConfig(process.env)
const log = openRequestLog(config)
const services = openServices(config)

const { create } = domain
patchFramework({
  log,
  host: config.listenHost,
  drainMs: config.drainMs,
  interrupt: () => {},
  close: async () => (await services).close(),
})
domain.create = create

http('query', queryHandler({ services, config, log }))
