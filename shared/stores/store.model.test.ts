/** Every Store adapter against a model: after any writes in any order both hold the same documents. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Fields, Plain, Store, Write } from './store.ts'
import { StoreError } from './store.ts'
import { freshCollection } from './testing/adapters.ts'
import { describeStores } from './testing/describe-stores.ts'
import { anyCharacter } from '../testing/characters.ts'

/** A write under the version that the document has, under the one it had before, or under none. */
type Under = 'current' | 'earlier' | 'none'
type Step = { type: Write['type']; id: string; fields: Fields; under: Under }
type Model = Map<string, { fields: Fields; version: string }>

const ids = ['a', 'b', 'c']
/** Not -0, which Firestore has no integer for; no key that it keeps to itself. */
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(n => n + 0),
)
const text = fc.string({ unit: anyCharacter, maxLength: 20 })
const key = text.filter(name => name !== '' && !name.startsWith('__'))
const { item } = fc.letrec<{ item: Plain; map: Plain }>(tie => ({
  item: fc.oneof({ maxDepth: 3 }, fc.constant(null), fc.boolean(), number, text, tie('map')),
  map: fc.dictionary(key, fc.oneof(tie('item'), fc.array(tie('item'), { maxLength: 3 })), {
    maxKeys: 3,
    noNullPrototype: true,
  }),
}))
const value: fc.Arbitrary<Fields[string]> = fc.oneof(
  item,
  fc.array(item, { maxLength: 3 }),
  fc.uint8Array({ maxLength: 20 }),
  fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  }),
)
const step: fc.Arbitrary<Step> = fc.record({
  type: fc.constantFrom('create', 'replace', 'update', 'add', 'remove'),
  id: fc.constantFrom(...ids),
  fields: fc.dictionary(fc.constantFrom('x', 'y', 'z'), value, { minKeys: 1, noNullPrototype: true }),
  under: fc.constantFrom<Under[]>('current', 'earlier', 'none'),
})
const oneDocumentOnce = { selector: (one: Step) => one.id, minLength: 1, maxLength: 3 }

describeStores('the store', ({ open, rounds }) => {
  let store: Store
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())

  test('does in any order of batches what a map would do', async () => {
    const batches = fc.array(fc.uniqueArray(step, oneDocumentOnce), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(batches, async run => follow(store, run)),
      { numRuns: rounds },
    )
  })
})

async function follow(store: Store, batches: Step[][]): Promise<void> {
  const collection = freshCollection()
  const model: Model = new Map()
  const given = ids.map(id => ({ id, versions: [] as string[] }))
  for (const [turn, steps] of batches.entries()) {
    const writes = steps.map(one => {
      const versions = given.find(({ id }) => id === one.id)?.versions ?? []
      return toWrite(collection, one, versions, turn)
    })
    const expected = applied(model, writes)
    const writings = await store.batch(writes).catch(error => {
      if (!(error instanceof StoreError) || error.reason !== 'conflict') throw error
      return undefined
    })
    expect(writings !== undefined).toBe(expected !== undefined)
    for (const [place, { version }] of (writings ?? []).entries()) {
      const write = writes[place]!
      const after = expected?.get(write.at.id)
      if (after) model.set(write.at.id, { fields: after, version })
      else model.delete(write.at.id)
      if (after) given.find(({ id }) => id === write.at.id)?.versions.push(version)
    }
    await compare(store, collection, model)
  }
  for (const { versions } of given) expect(new Set(versions).size).toBe(versions.length)
}

/** `turn` makes every write a change: a store may take one that changes nothing for none. */
function toWrite(
  collection: string,
  { type, id, fields, under }: Step,
  versions: string[],
  turn: number,
): Write {
  const ifVersion = { current: versions.at(-1), earlier: versions.at(-2), none: undefined }[under]
  const at = { collection, id }
  const condition = ifVersion === undefined ? {} : { ifVersion }
  switch (type) {
    case 'create':
      return { type, at, fields: { ...fields, turn } }
    case 'replace':
      return { type, at, fields: { ...fields, turn }, ...condition }
    case 'update':
      return {
        type,
        at,
        set: { ...fields, turn },
        unset: ['x'].filter(name => !(name in fields)),
        ...condition,
      }
    case 'add': {
      const { x: _, ...set } = fields
      return { type, at, amounts: { x: turn + 1 }, set: { ...set, turn } }
    }
    case 'remove':
      return { type, at, ...condition }
  }
}

/** The fields of each document written, `undefined` for a removed one; nothing if the batch must be refused. */
function applied(model: Model, writes: Write[]): Map<string, Fields | undefined> | undefined {
  const after = new Map<string, Fields | undefined>()
  for (const write of writes) {
    const before = model.get(write.at.id)
    const ifVersion = 'ifVersion' in write ? write.ifVersion : undefined
    if (write.type === 'create' ? before : ifVersion && before?.version !== ifVersion) return undefined
    if (write.type === 'update' && !before) return undefined
    after.set(write.at.id, fieldsAfter(write, before?.fields))
  }
  return after
}

function fieldsAfter(write: Write, before: Fields = {}): Fields | undefined {
  if (write.type === 'remove') return undefined
  if (write.type === 'add') {
    const x = typeof before['x'] === 'number' ? before['x'] : 0
    return { ...before, ...write.set, x: x + write.amounts['x']! }
  }
  if (write.type !== 'update') return write.fields
  const kept = Object.entries(before).filter(([name]) => !write.unset?.includes(name))
  return { ...Object.fromEntries(kept), ...write.set }
}

async function compare(store: Store, collection: string, model: Model): Promise<void> {
  const { documents, readAt } = await store.query({ collection, limit: 10 })
  const found = new Map(documents.map(({ id, fields, version }) => [id, { fields, version }]))
  expect(found).toEqual(model)
  for (const { writtenAt } of documents) expect(writtenAt).toBeLessThanOrEqual(readAt)
}
