/** What `npm start` serves: the query function, and in its process the calls that Cloud Scheduler makes of the warm function. */
import { config, log, services } from '../../functions/index.ts'
import { warmHere } from '../../functions/warm/handler.ts'
import { keepWarm } from './scheduler.ts'
import './with-parent.ts'

const opened = await services.catch(() => null) // calls get the error
if (opened) void keepWarm(opened, name => warmHere({ services: opened, config, log }, name))
