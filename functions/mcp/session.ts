/** A request to `/mcp`, as the files of this room share it. */
import { ProtocolError } from '@modelcontextprotocol/server'
import type { Caller } from '../../shared/keys/authenticate.ts'
import type { Call } from '../http/call.ts'

export interface Session {
  call: Call
  /** Who sends it. */
  caller: Caller
}

/** For a name or an argument that the server does not know: JSON-RPC's code for it. */
export function invalidParams(message: string, data?: object): ProtocolError {
  return new ProtocolError(-32602, message, data)
}
