/**
 * Where this program's own files are: what ships is found from here, what is the user's from the folder in which a command works
 * (`infra/lqe/folder.ts`). Built, a program is `dist/NAME.js` in an installed package; Node strips no types there.
 */
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'

/** The repository, or the installed package. */
export const packageFolder = dirname(findPackageJSON('.', import.meta.filename)!)

/** Whether this is what `npm run build` made, not the sources. */
export const isBuilt = import.meta.filename.endsWith('.js')

/** Of a program's file, which is beside its caller when both are built. */
export const ending = isBuilt ? 'js' : 'ts'

/** What is deployed, as `npm run build` made it: the function and, in `explorer/`, the page. */
export const functionFolder = join(packageFolder, 'dist/function')
