/** A slice of hostile-queries.soak.ts: what no caller's query can do to the service. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { mutations } from '../../shared/sandbox/testing/fuzz.ts'
import { Random } from '../../shared/sandbox/testing/random.ts'
import { hostileQueries, randomQuery } from '../testing/hostile-queries.ts'
import { type HostileService, isFault, startHostileService } from '../testing/hostile-service.ts'

let service: HostileService

beforeAll(async () => {
  service = await startHostileService(5)
}, 30_000)

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
}, 60_000)

/** Of the list, those that nothing but a bound ends, and that are refused at once by it. */
const refused: [name: string, detail: string][] = [
  ['a distance of long texts', 'EDIT_DISTANCE takes at most 25,000,000 pairs of characters'],
  ['a FORMAT as wide as a value of a row', '%* takes at most 1,000 characters of width in each row'],
  ['REPEAT by values of rows', 'REPEAT takes at most 16,384 bytes of text in each row; ask for less'],
  ['REPLACE by long texts', 'REPLACE takes at most'],
  ['texts that double', '|| takes at most'],
  ['hexadecimal of hexadecimal', 'TO_HEX takes at most'],
  ['structs that double', 'A STRUCT of more than 4,000 fields'],
  ['arrays of rows', 'GENERATE_ARRAY takes at most'],
  ['a pattern with counts', 'REGEXP_CONTAINS takes at most'],
  ['hundreds of joins', 'A SELECT that joins more than 40 tables'],
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

test.each([
  ['1,', 24_900],
  ['id,', 16_000],
  ['id AS a,', 7_000],
])('a name that is not there behind %s many times is found at once', async (item, count) => {
  const began = performance.now()
  const outcome = await service.send(`SELECT ${item.repeat(count)} nope FROM edge_logs`)
  expect(outcome).toMatchObject({ status: 400, code: 'invalid_query' })
  expect(performance.now() - began).toBeLessThan(2_000)
})

test.each([' CROSS JOIN UNNEST(t.metadata) AS m', ', UNNEST([1]) AS m'])(
  'what is too large with the endpoint’s own part is the caller’s to make smaller: %s',
  async item => {
    const many = Array.from({ length: 200 }, (_, at) => item + at).join('')
    expect(await service.send(`SELECT 1 AS one FROM edge_logs AS t${many}`)).toMatchObject({
      status: 400,
      code: 'invalid_query',
      detail: expect.stringMatching(/local engine|joins more than/),
    })
  },
)
