/** A slice of answer.hostile-queries.soak.ts: what no caller's query can do to the service. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { mutations } from '../../shared/sandbox/testing/fuzz.ts'
import { Random } from '../../shared/sandbox/testing/random.ts'
import { hostileQueries, randomQuery } from '../testing/hostile-queries.ts'
import { type HostileService, isFault, startHostileService } from '../testing/hostile-service.ts'

let service: HostileService

beforeAll(async () => {
  service = await startHostileService(5)
})

afterAll(() => service.stop())

test('50 random queries get an answer or a refusal', async () => {
  const random = new Random(11)
  const mutated = mutations(random)
  const codes = new Set<string>()
  for (let call = 0; call < 50; call++) {
    const outcome = await service.send(randomQuery(random, mutated))
    codes.add(outcome.code)
    expect(isFault(outcome, service.limitMs) ? outcome : null).toBeNull()
  }
  expect([...codes]).toEqual(expect.arrayContaining(['answered', 'invalid_query']))
})

/** Of the list, those that are refused by their text. */
const refused: [name: string, detail: string][] = [
  ['JSON that is deep', 'deep'],
  ['a name of every object', 'FORMAT has no %c'],
  ['ARRAY_CONCAT of nothing', 'ARRAY_CONCAT'],
]

test.each(refused)('%s is a 400 that says: %s', async (name, detail) => {
  const outcome = await service.send(hostileQueries[name]!)
  expect(outcome).toMatchObject({
    status: 400,
    code: 'invalid_query',
    detail: expect.stringContaining(detail),
  })
})

/** Of the list, those that nothing but the end of their process ends: they took gigabytes, or heeded no interruption. */
const endless = ['a distance of long texts', 'texts that double', 'structs that double', 'hundreds of joins']

test.each(endless)('%s ends in its time, and others are answered meanwhile', async name => {
  const ending = service.send(hostileQueries[name]!)
  for (let call = 0; call < 3; call++) expect((await service.send(`SELECT ${call} AS one`)).status).toBe(200)
  const outcome = await ending
  expect(isFault(outcome, service.limitMs) ? outcome : null).toBeNull()
})

test.each([
  ['1,', 24_900],
  ['id,', 16_000],
  ['id AS a,', 7_000],
])('a name that is not there behind %s many times is found', async (item, count) => {
  const outcome = await service.send(`SELECT ${item.repeat(count)} nope FROM edge_logs`)
  expect(outcome).toMatchObject({ status: 400, code: 'invalid_query' })
})
