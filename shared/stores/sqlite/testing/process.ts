/** A cache whose store is in a folder on a small disk, which fills up and is emptied again. Prints counts as JSON. */
import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqlite } from '../store.ts'
import { AnswerCache } from '../../../cache/cache.ts'
import { keyFields, made, request } from '../../../cache/testing/requests.ts'

const folder = process.argv[2]!
const filling = join(folder, 'filling')
const store = openSqlite({ file: join(folder, 'store') })
const cache = new AnswerCache(store, { memoryMs: 0, storeDownMs: 20 })

async function read(parameters: string): Promise<{ status: string; stored: boolean }> {
  const make = async () => ({ answer: made(randomBytes(20_000).toString('base64')) })
  const { status, stored } = await cache.read(request(make, { keyFields: { ...keyFields, parameters } }))
  return { status, stored }
}

const counts = { storedBefore: 0, servedFull: 0, storedFull: 0, hitsFull: 0, storedAfter: 0 }

for (let i = 0; i < 5; i++) if ((await read(`before ${i}`)).stored) counts.storedBefore++
writeFileSync(filling, '')
for (let size = 1 << 20; size >= 1024; size = size >> 1)
  try {
    for (;;) writeFileSync(filling, Buffer.alloc(size), { flag: 'a' })
  } catch {} // no space is left for so much
for (let i = 0; i < 100; i++) {
  const { status, stored } = await read(`full ${i}`)
  if (status === 'miss') counts.servedFull++
  if (stored) counts.storedFull++
  if ((await read(`before ${i % 5}`)).status === 'hit') counts.hitsFull++
}
rmSync(filling)
await sleep(50)
for (let i = 0; i < 10; i++) if ((await read(`after ${i}`)).stored) counts.storedAfter++
await cache.close()
await store.close()
process.stdout.write(JSON.stringify(counts))
