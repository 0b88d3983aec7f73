import { hostname, userInfo } from 'node:os'

/** The account and machine that this command runs on, by what the machine says; `null` in a container whose user has no entry. */
export function accountHere(): string | null {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    return null
  }
}
