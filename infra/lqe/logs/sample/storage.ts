import { invented, type Invented } from './entries.ts'
import type { Random } from './random.ts'
import type { Request } from './requests.ts'
import { serverAddress } from './world.ts'

/** What a request leaves in the storage server's log. */
export function* storageEntries(request: Request, random: Random): Generator<Invented> {
  const { project, user, time, method, path, search, status, ray } = request
  const target = `${path.replace('/storage/v1', '')}${search}`
  yield invented('storage.logs.prod.2', time - 500, random, {
    message: [project.ref, method, status, user.client.ip, ray, target, user.client.agent].join(' | '),
    metadata: {
      context: { host: `storage-${serverAddress(project).replaceAll('.', '-')}`, pid: random.integer(1, 40) },
      level: status >= 500 ? 'error' : 'info',
      project: project.ref,
      reqId: ray,
      tenantId: project.ref,
    },
  })
}
