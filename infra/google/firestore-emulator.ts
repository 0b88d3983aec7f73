/** Google's Firestore emulator: one for all test files that a Jest worker runs, or for another process; it ends with it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../shared/testing/free-port.ts'
import { printedBy, sdkRoot } from './sdk-root.ts'

export interface Emulator {
  /** host:port */
  address: string
  pid: number
}

/** Test files of one worker share nothing but its process id. One for all workers is too slow for tests of leases. */
const folder = join(tmpdir(), `firestore-emulator-${process.pid}`)
const startFile = join(folder, 'started')
const logFile = join(folder, 'log')
const rulesFile = join(import.meta.dirname, '../deploy/firestore.rules')
/** Time for it to start, on a busy machine. */
const startMs = 60_000

const jar = () => join(sdkRoot() ?? '', 'platform/cloud-firestore-emulator/cloud-firestore-emulator.jar')
let missing: string | null | undefined

/** Why there is no emulator on this machine; `null` where there is one. */
export function missingEmulator(): string | null {
  const find = () => {
    if (sdkRoot() === null) return 'gcloud is not installed'
    if (!existsSync(jar())) return 'gcloud has no cloud-firestore-emulator'
    return printedBy('java', '--version') ? null : 'java is not installed'
  }
  return (missing = missing === undefined ? find() : missing)
}

let used: Promise<Emulator> | undefined

/** Finds it running, or starts it. Firestore clients that this process opens from then on call it. */
export async function useEmulator(): Promise<Emulator> {
  used ??= running().then(emulator => emulator ?? start())
  const emulator = await used
  process.env['FIRESTORE_EMULATOR_HOST'] = emulator.address
  process.env['METADATA_SERVER_DETECTION'] = 'none' // the emulator needs no credentials: no search for them
  return emulator
}

/** The one that another test file has started. */
async function running(): Promise<Emulator | null> {
  if (!existsSync(startFile)) return null
  const emulator = JSON.parse(readFileSync(startFile, 'utf8')) as Emulator
  return (await answers(emulator.address)) ? emulator : null
}

/** Its classes as Java has them in memory, from the end of the first run. With them it starts in half the time. */
const classes = join(import.meta.dirname, '../../node_modules/.cache/firestore-emulator.jsa')

/**
 * `cat` ends with this process, even when that is killed: so the emulator never outlives it by more than writing its classes
 * takes, seconds in which it must not keep this process's standard error open: Jest would wait for it.
 */
const script = `
  if [ -e "$5" ]; then archive="SharedArchiveFile=$5"; else archive="ArchiveClassesAtExit=$5.$$"; fi
  java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:+IgnoreUnrecognizedVMOptions "-XX:$archive" \\
    -cp "$1" com.google.cloud.datastore.emulator.firestore.CloudFirestore \\
    start --host=127.0.0.1 --port="$2" --rules="$3" > "$4/log" 2>&1 &
  echo $!
  cat > /dev/null
  exec 2> /dev/null
  if [ -e "$5" ]; then kill -9 $!; else kill $!; wait $!; mv "$5.$$" "$5"; fi
  rm -rf "$4"`

async function start(): Promise<Emulator> {
  const reason = missingEmulator()
  if (reason) throw new Error(reason)
  const port = await freePort()
  for (const made of [folder, dirname(classes)]) mkdirSync(made, { recursive: true })
  const args = ['-c', script, 'sh', jar(), String(port), rulesFile, folder, classes]
  const child = spawn('sh', args, { detached: true, stdio: ['pipe', 'pipe', 'inherit'] })
  const [pid] = (await once(child.stdout, 'data')) as [Buffer]
  child.unref()
  child.stdout.destroy()
  ;(child.stdin as Socket).unref()
  const emulator = { address: `127.0.0.1:${port}`, pid: Number(pid) }
  for (const until = Date.now() + startMs; !(await answers(emulator.address)); await sleep(50))
    if (Date.now() > until)
      throw new Error(`no emulator after ${startMs} ms: ${readFileSync(logFile, 'utf8')}`)
  writeFileSync(startFile, JSON.stringify(emulator))
  return emulator
}

async function answers(address: string): Promise<boolean> {
  return fetch(`http://${address}/`).then(
    ({ ok }) => ok,
    () => false,
  )
}
