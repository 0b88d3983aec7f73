/**
 * Views of endpoints that people have saved on the page: the collection `views`. Keys with the same pins share the views of an
 * endpoint, and see no others, as a view names what its keys may see. A view's id is made of its name, so that of two people who
 * save one name at once the second is told.
 */
import { hash } from 'node:crypto'
import { ApiError } from '../errors.ts'
import { everyDocument } from '../stores/calls.ts'
import { assertReadable, formats } from '../stores/format.ts'
import { type Document, type Fields, type Reference, type Store, StoreError } from '../stores/store.ts'
import { visible } from '../visible-text.ts'

const collection = 'views'

/** What a person gives. */
export interface ViewText {
  name: string
  /** What is behind `#` in the page's address. */
  address: string
}

export interface View extends ViewText {
  id: string
  /** Name of the key that saved it last. */
  by: string
  /** ISO 8601. */
  at: string
  /** Differs after every change. */
  version: string
}

/** The views that some keys share. */
type Shelf = string

/** As the store has it. */
export interface StoredView extends ViewText {
  shelf: Shelf
  by: string
  at: Date
}

const longestName = 100
const longestAddress = 20_000
export const mostViews = 200

/** @param pins of the key */
export function shelfOf(endpointId: string, pins: Record<string, string>): Shelf {
  const sorted = Object.entries(pins).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return sorted.length === 0
    ? endpointId
    : `${endpointId}.${hash('sha256', JSON.stringify(sorted)).slice(0, 32)}`
}

/** What is wrong with a view, by its field; `null` = nothing. @param endpoint its name */
export function faultOfView(
  { name, address }: ViewText,
  endpoint: string,
): { parameter: keyof ViewText; detail: string } | null {
  if (typeof name !== 'string' || name === '' || name.length > longestName)
    return { parameter: 'name', detail: `must be a text of 1 to ${longestName} characters` }
  if (visible(name) !== name || /[\t\n]/.test(name) || name.trim() !== name)
    return {
      parameter: 'name',
      detail: 'must have no characters that are not seen, and no space at its ends',
    }
  if (typeof address !== 'string' || address.length > longestAddress || !address.isWellFormed())
    return { parameter: 'address', detail: `must be a text of up to ${longestAddress} characters` }
  if (address !== `#${endpoint}` && !address.startsWith(`#${endpoint}?`))
    return { parameter: 'address', detail: `must begin with #${endpoint}, as the page's address does` }
  return null
}

/** By name. @throws ApiError `store_unavailable` */
export async function listViews(store: Store, shelf: Shelf): Promise<View[]> {
  const documents = await reaching(onShelf(store, shelf))
  return documents.map(viewIn).toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
}

/** @param by name of the key @throws ApiError `conflict` where the name is taken, `invalid_request` where there are too many */
export async function addView(store: Store, shelf: Shelf, text: ViewText, by: string): Promise<View> {
  await assertRoom(store, shelf)
  const at = referenceTo(shelf, idOf(text.name))
  const { readAt } = await reaching(store.get(at))
  const fields = fieldsOf({ shelf, ...text, by, at: new Date(readAt) })
  const { version } = await reaching(store.create(at, fields), () => nameConflict(store, at))
  return viewIn({ fields, version })
}

/**
 * Changes a view; where its name becomes another, its id does.
 * @param seen id and version of the view as it was read
 * @throws ApiError `conflict` where the view has changed since it was read, or the new name is taken
 */
export async function replaceView(
  store: Store,
  shelf: Shelf,
  seen: Pick<View, 'id' | 'version'>,
  text: ViewText,
  by: string,
): Promise<View> {
  const [from, to] = [referenceTo(shelf, seen.id), referenceTo(shelf, idOf(text.name))]
  const { readAt } = await reaching(store.get(from))
  const fields = fieldsOf({ shelf, ...text, by, at: new Date(readAt) })
  if (from.id === to.id) {
    const { version } = await reaching(store.replace(to, fields, seen.version), () =>
      versionConflict(store, from),
    )
    return viewIn({ fields, version })
  }
  const [written] = await reaching(
    store.batch([
      { type: 'create', at: to, fields },
      { type: 'remove', at: from, ifVersion: seen.version },
    ]),
    async () => ((await store.get(to)).document ? nameConflict(store, to) : versionConflict(store, from)),
  )
  return viewIn({ fields, version: written!.version })
}

/** @throws ApiError `conflict` where the view has changed since it was read */
export async function removeView(
  store: Store,
  shelf: Shelf,
  { id, version }: Pick<View, 'id' | 'version'>,
): Promise<void> {
  const at = referenceTo(shelf, id)
  await reaching(store.remove(at, version), () => versionConflict(store, at))
}

async function assertRoom(store: Store, shelf: Shelf): Promise<void> {
  if ((await reaching(onShelf(store, shelf))).length < mostViews) return
  throw new ApiError(
    'invalid_request',
    `This endpoint has ${mostViews} views: delete one that is not needed.`,
  )
}

async function onShelf(store: Store, shelf: Shelf): Promise<Document[]> {
  const where = [{ field: 'shelf', operator: '==' as const, value: shelf }]
  return (await store.query({ collection, where, limit: 1_000 })).documents
}

/** @param onConflict makes the error of a precondition that does not hold */
async function reaching<T>(answer: Promise<T>, onConflict?: () => Promise<ApiError>): Promise<T> {
  return answer.catch(async (error: unknown) => {
    if (!(error instanceof StoreError)) throw error
    if (error.reason === 'conflict' && onConflict) throw await onConflict()
    if (error.reason !== 'unavailable') throw error
    throw new ApiError('store_unavailable', 'Views cannot be had at the moment.', { cause: error })
  })
}

async function nameConflict(store: Store, at: Reference): Promise<ApiError> {
  const { document } = await store.get(at)
  const of = document ? ` “${viewIn(document).name}” already, by ${viewIn(document).by}` : ' of that name'
  return new ApiError('conflict', `There is a view${of}: take another name, or save over that one.`)
}

async function versionConflict(store: Store, at: Reference): Promise<ApiError> {
  const { document } = await store.get(at)
  const what = document ? `was changed by ${viewIn(document).by}` : 'is not there any more'
  return new ApiError('conflict', `The view ${what}: nothing was changed; read the views again.`)
}

/** Of a name that is written in several ways, one form. */
function idOf(name: string): string {
  return hash('sha256', name.normalize()).slice(0, 32)
}

function referenceTo(shelf: Shelf, id: string): Reference {
  return { collection, id: `${shelf}.${id}` }
}

/** @throws ApiError for one that a later version stored */
function viewIn({ fields, version }: Pick<Document, 'fields' | 'version'>): View {
  const { name, address, by, at } = storedView(fields)!
  return { id: idOf(name), name, address, by, at: at.toISOString(), version }
}

/** Every view there is, by shelf and name. @throws StoreError, and ApiError for one that a later version stored */
export async function everyView(store: Store): Promise<StoredView[]> {
  const orderBy = { field: 'shelf', direction: 'asc' } as const
  const views: StoredView[] = []
  for await (const { fields } of everyDocument(store, { collection, orderBy }))
    views.push(storedView(fields)!)
  const placeOf = ({ shelf, name }: StoredView) => `${shelf}\n${name}`
  return views.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
}

/** The document of a view, and its place. */
export function documentOf(view: StoredView): { at: Reference; fields: Fields } {
  return { at: referenceTo(view.shelf, idOf(view.name)), fields: fieldsOf(view) }
}

function fieldsOf({ shelf, name, address, by, at }: StoredView): Fields {
  return { format: formats.view, shelf, name, address, by, at }
}

/** @returns `undefined` where the fields are no view's; throws ApiError for one that a later version stored */
export function storedView(fields: Fields): StoredView | undefined {
  assertReadable('view', fields, 'A view')
  const { shelf, name, address, by, at } = fields
  const areTexts = [shelf, name, address, by].every(text => typeof text === 'string')
  return areTexts && at instanceof Date ? ({ shelf, name, address, by, at } as StoredView) : undefined
}
