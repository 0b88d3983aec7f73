import { expect, test } from '@jest/globals'
import { ApiError } from '../../shared/errors.ts'
import type { Details } from '../../shared/log.ts'
import { invalidParams, type Session, told } from './session.ts'

test('an error that is not for callers stays in the log line', async () => {
  const notes: Details = {}
  const session = { call: { notes } } as unknown as Session
  const failing = (error: Error) =>
    told(session, () => {
      throw error
    })
  await expect(failing(new TypeError('secret'))).rejects.toThrow('An internal error.')
  expect(notes).toMatchObject({ error: 'TypeError', frames: expect.anything() })
  expect(JSON.stringify(notes)).not.toContain('secret')
  await expect(failing(new ApiError('store_unavailable', 'Try again.'))).rejects.toThrow('Try again.')
  await expect(failing(invalidParams('No such tool.'))).rejects.toMatchObject({ code: -32602 })
})
