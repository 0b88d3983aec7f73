/** A limit of memory for one process: a control group of Linux, where this machine lets one be made. */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface MemoryLimit {
  /** Whether the kernel ends a process that takes more; else only Node's heap and the service's own bound know of it. */
  isEnforced: boolean
  /** Runs Node under the limit. */
  command: string[]
  env: Record<string, string>
  /** Call after the process has ended. */
  remove(): Promise<void>
}

/** The folder of control groups, and the file that holds a group's limit, in versions 1 and 2 of the interface. */
const hierarchies = [
  { root: '/sys/fs/cgroup/memory', file: 'memory.limit_in_bytes' },
  { root: '/sys/fs/cgroup', file: 'memory.max' },
]
/** Node takes so much of a container's memory for its heap: 587 MB of 1 GiB. */
const shareOfHeap = 0.55

/** Makes the control group at once; without one, Node and the service get the bounds that they would take from it. */
export function limitMemory(bytes: number): MemoryLimit {
  const group = hierarchies.map(hierarchy => makeGroup(hierarchy, bytes)).find(made => made !== null)
  if (!group)
    return {
      isEnforced: false,
      command: [process.execPath, `--max-old-space-size=${Math.floor((bytes * shareOfHeap) / 2 ** 20)}`],
      env: { MAX_BYTES_IN_FLIGHT: String(Math.floor(bytes / 6)) },
      remove: async () => {},
    }
  return {
    isEnforced: true,
    command: ['sh', '-c', 'echo $$ > "$0/cgroup.procs" && exec "$@"', group, process.execPath],
    env: {},
    async remove() {
      // The kernel takes a moment to see that the last process has gone.
      for (let attempt = 0; existsSync(group) && attempt < 50; attempt++)
        try {
          rmdirSync(group)
        } catch {
          await sleep(20)
        }
    },
  }
}

function makeGroup({ root, file }: (typeof hierarchies)[number], bytes: number): string | null {
  const group = join(root, `bench-${randomUUID()}`)
  try {
    mkdirSync(group)
  } catch {
    return null
  }
  try {
    // Only a folder of control groups has them; a file that is made by writing limits nothing.
    if (!existsSync(join(group, file))) throw new Error('no control of memory')
    writeFileSync(join(group, file), String(bytes))
    return group
  } catch {
    rmdirSync(group)
    return null
  }
}
