/** What becomes of files that are drafted as one chooses. */
import { expect, test } from '@jest/globals'
import type { DraftAnswer } from '../query/draft.ts'
import { Drafts, type Made } from './drafts.ts'
import { ServiceError } from './service.ts'

interface Asked {
  name: string
  description: string
}

const answerOf = ({ name }: Asked): DraftAnswer => ({
  files: [{ name: `${name}.sql`, text: 'SELECT 1' }],
  folder: '/here/queries',
  written: false,
})

/** Calls wait until they are answered. */
function opened(patch: Partial<Made<Asked>> = {}) {
  const waiting: (() => void)[] = []
  const calls: [name: string, write: boolean][] = []
  const drafts = new Drafts<Asked>({
    first: { name: 'a', description: '' },
    draft: (asked, write) => {
      calls.push([asked.name, write])
      if (asked.name === '') return Promise.reject(new ServiceError({ title: 'No', detail: 'No name.' }))
      return new Promise(resolve => waiting.push(() => resolve(answerOf(asked))))
    },
    isThere: async () => true,
    open: () => {},
    ...patch,
  })
  const settled = () => new Promise(resolve => setTimeout(resolve))
  const answer = async () => {
    for (const each of waiting.splice(0)) each()
    await settled()
  }
  return { drafts, calls, answer, settled }
}

test('a press that comes with the end of a field gets the files of that field', async () => {
  const { drafts, answer } = opened()
  await answer()
  const saved: string[] = []
  drafts.change({ name: 'b' }) // the field is left by the press
  const pressed = drafts.download(({ name }) => saved.push(name))
  await answer()
  await pressed
  expect(saved).toEqual(['b.sql'])
  expect(drafts.downloaded.value).toEqual(['b.sql'])
  drafts.change({ name: 'c' })
  expect(drafts.downloaded.value).toEqual([]) // they are not of what is asked now
})

test('what has no files is not downloaded, and says why', async () => {
  const { drafts, answer, settled } = opened()
  await answer()
  drafts.change({ name: '' })
  const saved: string[] = []
  await drafts.download(({ name }) => saved.push(name))
  await settled()
  expect([drafts.problem.value, saved, drafts.downloaded.value]).toEqual(['No name.', [], []])
  drafts.change({ name: 'b' })
  await answer()
  expect([drafts.problem.value, drafts.answer.value?.files[0]!.name]).toEqual(['', 'b.sql'])
})

test('one is asked before files are written, and again after a change', async () => {
  const { drafts, calls, answer } = opened()
  await answer()
  await drafts.askToWrite()
  expect(drafts.isAsking.value).toBe(true)
  drafts.change({ name: 'b' })
  expect(drafts.isAsking.value).toBe(false)
  const late = drafts.askToWrite()
  drafts.change({ name: 'c' })
  await answer()
  await late
  expect(drafts.isAsking.value).toBe(false) // it was of other files
  expect(calls.some(([, write]) => write)).toBe(false)
})

test('what was written is opened once it is in force, and not where one went on meanwhile', async () => {
  const there: string[] = []
  const opens = (asked: Asked) => void there.push(asked.name)
  const { drafts, calls, answer } = opened({ open: opens })
  await answer()
  const writing = drafts.write(1)
  expect(drafts.written.value).toBe('Writing …')
  await answer()
  expect(drafts.written.value).toBe('Written. Waiting until a is in force …')
  await writing
  expect([there, calls.at(-1)]).toEqual([['a'], ['a', true]])
  const other = opened({ open: opens })
  const left = other.drafts.write(1)
  await other.answer()
  other.drafts.close()
  await left
  expect(there).toEqual(['a'])
})

test('what was written and does not come into force is said', async () => {
  const { drafts, answer } = opened({ isThere: () => Promise.reject(new Error('away')) })
  const writing = drafts.write(0)
  await answer()
  await writing
  expect(drafts.written.value).toBe('Written, but not in force: see what npm start says.')
})
