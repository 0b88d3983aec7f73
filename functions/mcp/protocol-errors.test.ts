import { expect, test } from '@jest/globals'
import { ApiError } from '../../shared/errors.ts'
import type { Details } from '../../shared/log.ts'
import { invalidParams, type McpCall, withProtocolErrors } from './protocol-errors.ts'

test('an error that is not for callers stays in the log line', async () => {
  const notes: Details = {}
  const mcpCall = { call: { notes } } as unknown as McpCall
  const failing = (error: Error) =>
    withProtocolErrors(mcpCall, () => {
      throw error
    })
  await expect(failing(new TypeError('secret'))).rejects.toThrow('An internal error.')
  expect(notes).toMatchObject({ error: 'TypeError', frames: expect.anything() })
  expect(JSON.stringify(notes)).not.toContain('secret')
  await expect(failing(new ApiError('store_unavailable', 'Try again.'))).rejects.toThrow('Try again.')
  await expect(failing(invalidParams('No such tool.'))).rejects.toMatchObject({ code: -32602 })
})
