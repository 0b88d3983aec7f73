/**
 * functions-framework 5.0.5 makes a `node:domain` for each request, which switches async hooks on for every promise of
 * the process. `npm run bench` shows what that costs. Our handlers are async, catch everything and leave no promise
 * loose, so a domain would catch nothing; without it, an error in a detached callback would end the process.
 */
import domain from 'node:domain'

/** From now on, domains made in this process do nothing: they run what they are given, and that is all. */
export function withoutDomains(): void {
  const inert = {
    on: () => inert,
    run: (act: () => unknown) => act(),
  }
  domain.create = () => inert as unknown as domain.Domain
}
