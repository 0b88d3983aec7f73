/** What commands share: how they get the service, how they stop, and how they read a number. */
import { InvalidArgumentError } from 'commander'
import type { Config } from '../../shared/config.ts'
import { openServices, type Services } from '../../shared/services.ts'

/** Opens the service for a command, and closes it after. */
export type WithServices = (act: (services: Services) => Promise<void>) => Promise<void>
/** The same for a command that needs the store alone. */
export type WithStore = (act: (services: Pick<Services, 'store'>) => Promise<void>) => Promise<void>

/** Services with these settings, until `act` has ended. */
export async function usingServices<T>(config: Config, act: (services: Services) => Promise<T>): Promise<T> {
  const services = await openServices(config)
  try {
    return await act(services)
  } finally {
    await services.close()
  }
}

/** What stops a command. The message is for the operator: it names the argument and what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/**
 * Reads `name=value`; the first `=` parts them, or the last one.
 * @param example of what is to be written @param least characters of the value
 */
export function pairIn(text: string, example: string, { least = 1, last = false } = {}): [string, string] {
  const at = last ? text.lastIndexOf('=') : text.indexOf('=')
  if (at < 1 || text.length - at - 1 < least) throw new InvalidArgumentError(`Write it as ${example}.`)
  return [text.slice(0, at), text.slice(at + 1)]
}

/** Reads a whole number within bounds, both included. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return text => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (number >= least && number <= most) return number
    throw new InvalidArgumentError(`Write a whole number from ${least} to ${most}.`)
  }
}
