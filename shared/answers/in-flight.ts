/**
 * The memory of results on their way through this process: rows that an engine gives, stored bytes that are read, bodies
 * that are sent. The cache's own memory is not part of it (`shared/cache/entries.ts`).
 */
import { finished, type Writable } from 'node:stream'
import { EngineError } from '../engines/engine.ts'
import { ApiError } from '../errors.ts'

/** Bytes of memory for each byte of JSON: rows as objects, their JSON as text, and as bytes; or parts, and the whole. */
export const memoryOfRows = 3
/** What a run must find free before it begins, so that it is refused before it has cost anything. */
const freeForRun = 2_000_000

/** A body that one or more responses send at the moment. */
interface Body {
  bytes: Promise<Buffer>
  size: number
  responses: number
}

interface BodyRequest {
  /** Equal for equal bodies. */
  key: string
  /** Memory that making it takes, and 0 where its bytes are in memory already. */
  cost: number
  make: () => Promise<Buffer>
  /** Memory that it keeps alive once it is made, itself included. */
  held: (body: Buffer) => number
}

/** Counts the memory of results in one process, and refuses what would pass the bound. */
export class BytesInFlight {
  private readonly maxBytes: number
  private readonly bodies = new Map<string, Body>()
  private bytes = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  /**
   * Counts the rows of a run until an answer is made of them, which `release` says. `onBytes` is the one of `RunLimits`; it throws
   * EngineError `overloaded`.
   * @throws ApiError `overloaded` where less is free than a run may take
   */
  rowsOfRun(): { onBytes: (bytes: number) => void; release: () => void } {
    if (!this.hasRoomFor(freeForRun)) throw overloadError()
    let held = 0
    return {
      onBytes: bytes => {
        const more = bytes * memoryOfRows
        if (!this.hasRoomFor(more)) throw new EngineError('overloaded', 'There is no room for the result')
        held += more
        this.bytes += more
      },
      release: () => {
        this.bytes -= held
      },
    }
  }

  /**
   * Counts `bytes` while `act` runs.
   * @throws ApiError `overloaded` before `act` begins, and what `act` throws
   */
  async during<T>(bytes: number, act: () => Promise<T>): Promise<T> {
    if (!this.hasRoomFor(bytes)) throw overloadError()
    this.bytes += bytes
    try {
      return await act()
    } finally {
      this.bytes -= bytes
    }
  }

  /**
   * The bytes of a body, made and counted once for all responses that send it at the same time.
   * @throws ApiError `overloaded`, and what `make` throws
   */
  async body(response: Writable, request: BodyRequest): Promise<Buffer> {
    const body = this.bodies.get(request.key) ?? this.begin(request)
    body.responses++
    finished(response, () => {
      body.responses--
      if (body.responses > 0) return
      this.bodies.delete(request.key)
      this.bytes -= body.size
    })
    return body.bytes
  }

  private begin({ key, cost, make, held }: BodyRequest): Body {
    if (cost > 0 && !this.hasRoomFor(cost)) throw overloadError()
    const body: Body = { bytes: make(), size: cost, responses: 0 }
    this.bytes += cost
    body.bytes.then(
      made => {
        if (this.bodies.get(key) !== body) return
        const size = held(made)
        this.bytes += size - body.size
        body.size = size
      },
      () => {}, // each response gets the error
    )
    this.bodies.set(key, body)
    return body
  }

  private hasRoomFor(bytes: number): boolean {
    return this.bytes + bytes <= this.maxBytes
  }
}

function overloadError(): ApiError {
  return new ApiError(
    'overloaded',
    'The service is busy with other large results; come back in a few seconds.',
  )
}
