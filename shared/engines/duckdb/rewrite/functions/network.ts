import { type FunctionTable, signature } from './signature.ts'
import { quoteText } from '../../text.ts'

/** After the scheme's `//` and a user's name, up to the port or the path; a bare name has no host. */
const authority = quoteText(
  '^\\s*(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//(?:[^@/?#\\s]*@)?(\\[[^\\]]*\\]|[^:/?#\\s]+)',
)

export const networkFunctions: FunctionTable = {
  'NET.HOST': [signature(['STRING'], 'STRING', url => `NULLIF(regexp_extract(${url}, ${authority}, 1), '')`)],
}
