/** What can be done in the form, by name. */
import { format } from '../../../shared/sql/format.ts'
import { choosing, type Commands, where } from '../commands.ts'
import { copy } from '../copy.ts'
import { asCurl, parametersOf } from '../service.ts'
import { type QueryStore, quickRanges } from './store.ts'

export function commandsOf(store: QueryStore): Commands {
  const { endpoint, isOwn, text, redact, outcome } = store
  const { query, link } = outcome.value ?? {}
  return {
    Run: () => void store.run(),
    ...where(store.isRunning.value, { Stop: store.stop }),
    ...where(endpoint.cacheSeconds > 0 && endpoint.mayRunFresh, {
      'Run fresh': () => void store.run({ fresh: true }),
    }),
    ...where(endpoint.sandbox, {
      ...where(isOwn.value, { 'Query: the saved one': () => store.setMode('saved') }),
      ...where(!isOwn.value, { 'Query: SQL of your own': () => store.setMode('own') }),
      ...where(isOwn.value, { 'Format the SQL': () => (text.value = format(text.value)) }),
    }),
    ...where(parametersOf(endpoint).start !== undefined, {
      ...choosing(
        'Range',
        undefined,
        quickRanges.map(([from, text]) => [text, () => store.runFrom(from)]),
      ),
    }),
    [redact.value ? 'Show personal data' : 'Redact personal data']: () => store.setRedact(!redact.value),
    ...(query && link
      ? {
          'Copy link': () => void copy(new URL(link, location.href).href),
          'Copy as curl': () => void copy(asCurl(query)),
        }
      : {}),
  }
}
