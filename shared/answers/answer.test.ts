import { expect, test } from '@jest/globals'
import { Answer } from './answer.ts'

test('an answer makes a form again that could not be made', async () => {
  const answer = Answer.fromJson(
    { rows: 0, columns: [], truncated: false, redacted: false },
    Buffer.from('{}'),
  )
  await expect(answer.form('tool', () => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(await answer.form('tool', () => Promise.resolve(Buffer.from('text')))).toEqual(Buffer.from('text'))
  expect(await answer.form('tool', () => Promise.reject(new Error('again')))).toEqual(Buffer.from('text'))
})
