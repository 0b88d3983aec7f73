/** What stops a command on logs. The message is for the operator: it names the argument and what to do. */
export class LogsError extends Error {
  override readonly name = 'LogsError'
}
