/** `functions/index.ts` without the guard of `functions/domain.ts`, to show what that is worth. */
import { http } from '@google-cloud/functions-framework'
import { loadConfig } from '../../../shared/config.ts'
import { log } from '../../../shared/log.ts'
import { openServices } from '../../../shared/services.ts'
import { mendFramework } from '../../../functions/http/framework.ts'
import { queryHandler } from '../../../functions/query/handler.ts'

const config = loadConfig(process.env)
const services = openServices(config)

mendFramework({ log, drainMs: config.drainMs, close: async () => (await services).close() })

http('query', queryHandler({ services, config, log }))
