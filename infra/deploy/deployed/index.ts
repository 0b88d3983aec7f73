/** What functions-framework loads. */
import { load } from './load.ts'

/** `true`: another V8 compiled the bundle, so that it starts slower; `undefined`: nobody did. */
export const { cachedDataRejected } = load()
