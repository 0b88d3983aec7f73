/**
 * Loaded before a deployed function (`node --import`): the settings refuse an emulator where `K_SERVICE` says that this is Cloud
 * Run, so the function hears of the local BigQuery and Firestore when it has read them, as it begins to listen.
 */
import { Server } from 'node:net'

const { listen } = Server.prototype as { listen: (...args: unknown[]) => Server }

Server.prototype.listen = function (this: Server, ...args: unknown[]): Server {
  Object.assign(process.env, JSON.parse(process.env['REHEARSAL_BACKENDS'] ?? '{}'))
  return listen.apply(this, args)
}
