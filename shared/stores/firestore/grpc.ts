/** Settings of the client for what is beneath it, and the one way to stop what it has begun. */
import { AsyncLocalStorage } from 'node:async_hooks'

/** Over when the caller has its answer. */
const over = new AsyncLocalStorage<AbortSignal>()

/** Does some work; calls and repetitions that are still under way when it is done, or has failed, are cancelled. */
export async function cancelling<T>(work: () => Promise<T>): Promise<T> {
  const controller = new AbortController()
  try {
    return await over.run(controller.signal, work)
  } finally {
    controller.abort()
  }
}

/** What gRPC hands over before a call goes out, each repetition too. */
interface Outgoing {
  /** The request, the same object in each repetition. */
  argument?: { writes?: unknown[] }
  call: { cancel(): void }
}

/** By request: a repetition may begin in the context of another call, which had opened the connection. */
const signals = new WeakMap<object, AbortSignal>()

/**
 * No part of the client repeats a cancelled call. But it may be waiting to repeat one that failed, and gRPC sends what
 * is cancelled as it begins: so a commit is emptied too.
 */
function cancelWhenOver<T extends Outgoing>(outgoing: T): T {
  const { argument = {}, call } = outgoing
  const signal = signals.get(argument) ?? over.getStore()
  if (!signal) return outgoing
  signals.set(argument, signal)
  const cancel = () => {
    call.cancel()
    argument.writes?.splice(0)
  }
  if (signal.aborted) process.nextTick(cancel)
  else signal.addEventListener('abort', cancel, { once: true })
  return outgoing
}

/**
 * Reads are repeated at once where the connection was lost, and nowhere else. The default is to repeat them after any
 * error, a refused query too, and first after two seconds.
 */
const reading = { retry_codes_name: 'connection_lost' }

export const grpcOptions = {
  /** The default, two minutes, is how long a client may stay away from a store that is back. */
  'grpc.max_reconnect_backoff_ms': 1000,
  'grpc.callInvocationTransformer': cancelWhenOver,
  gaxServerStreamingRetries: true,
  clientConfig: {
    interfaces: {
      'google.firestore.v1.Firestore': {
        retry_codes: { connection_lost: ['UNAVAILABLE', 'INTERNAL'] },
        methods: { BatchGetDocuments: reading, RunQuery: reading },
      },
    },
  },
}
