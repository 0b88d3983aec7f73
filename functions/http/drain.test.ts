/** What the process does as a whole: started as when deployed, stopped by a signal. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from '@jest/globals'

const root = join(import.meta.dirname, '../..')
const main = join(root, 'node_modules/@google-cloud/functions-framework/build/src/main.js')

let child: ChildProcess | undefined
let folder: string

afterEach(() => {
  child?.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a function of the framework whose answer takes `ms`, with our mending or without. */
async function start(port: number, ms: number): Promise<ChildProcess> {
  folder = mkdtempSync(join(tmpdir(), 'framework-'))
  const source = join(folder, 'function.mjs')
  writeFileSync(
    source,
    `import { createRequire } from 'node:module'
     import { mendFramework } from ${JSON.stringify(join(root, 'functions/http/framework.ts'))}
     const { http } = createRequire(${JSON.stringify(join(root, 'package.json'))})('@google-cloud/functions-framework')
     mendFramework({ log: () => {}, drainMs: 3000, close: async () => console.log('closed') })
     http('slow', async (req, res) => {
       await new Promise(resolve => setTimeout(resolve, ${ms}))
       res.end('done')
     })`,
  )
  const started = spawn(process.execPath, [main, '--target=slow', `--source=${source}`, `--port=${port}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child = started
  let output = ''
  started.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  while (!output.includes('Serving function')) await sleep(20)
  return Object.assign(started, { output: () => output })
}

describe('a signal to stop', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s lets requests in flight finish, then closes and ends',
    async signal => {
      const port = 20_000 + Math.floor(Math.random() * 20_000)
      const server = await start(port, 500)
      const ended = new Promise<number | null>(resolve => server.once('exit', resolve))
      const answers = Array.from({ length: 20 }, () =>
        fetch(`http://127.0.0.1:${port}/`).then(response => response.text()),
      )
      await sleep(200)
      server.kill(signal)
      await sleep(50)
      await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
      expect(await Promise.all(answers)).toEqual(Array.from({ length: 20 }, () => 'done'))
      expect(await ended).toBe(0)
      expect((server as unknown as { output(): string }).output()).toContain('closed')
    },
    15_000,
  )

  test('does not wait for ever for a request that hangs', async () => {
    const port = 20_000 + Math.floor(Math.random() * 20_000)
    const server = await start(port, 60_000)
    const ended = new Promise<number | null>(resolve => server.once('exit', resolve))
    const lost = fetch(`http://127.0.0.1:${port}/`).then(({ status }) => status)
    await sleep(200)
    server.kill('SIGTERM')
    expect(await lost.catch(() => 500)).toBe(500)
    expect(await ended).toBe(1)
  }, 15_000)
})
