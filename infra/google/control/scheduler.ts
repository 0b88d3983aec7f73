/** Cloud Scheduler: jobs, and a call of one at once. */
import { demandActAs } from './permissions.ts'
import { type Call, create, get, list, patch, remove, type Json, type Route } from './plane.ts'

const parent = 'cloudscheduler/v1/projects/{project}/locations/{location}'
const parentName = ({ params }: Call) => `projects/${params['project']}/locations/${params['location']}`
const jobName = (call: Call) => `${parentName(call)}/jobs/${call.params['job']}`

export const schedulerRoutes: Route[] = [
  {
    method: 'GET',
    path: `${parent}/jobs`,
    permission: 'cloudscheduler.jobs.list',
    handle: call => ({ jobs: list(call.state, `${parentName(call)}/jobs`) }),
  },
  {
    method: 'POST',
    path: `${parent}/jobs`,
    permission: 'cloudscheduler.jobs.create',
    handle: call => (checkAccount(call), create(call.state, call.body['name'] as string, call.body)),
  },
  {
    method: 'PATCH',
    path: `${parent}/jobs/{job}`,
    permission: 'cloudscheduler.jobs.update',
    handle: call => {
      const job = get(call.state, jobName(call))
      checkAccount(call)
      patch(job, call.body, call.query.get('updateMask')!.split(','))
      return job
    },
  },
  {
    method: 'GET',
    path: `${parent}/jobs/{job}`,
    permission: 'cloudscheduler.jobs.get',
    handle: call => get(call.state, jobName(call)),
  },
  {
    method: 'DELETE',
    path: `${parent}/jobs/{job}`,
    permission: 'cloudscheduler.jobs.delete',
    handle: call => (remove(call.state, jobName(call)), {}),
  },
]

/** "Use authentication with HTTP targets": the caller must be allowed to act as the job's account. */
function checkAccount(call: Call): void {
  const { oidcToken } = (call.body['httpTarget'] ?? {}) as { oidcToken?: Json }
  if (oidcToken) demandActAs(call, call.params['project']!, oidcToken['serviceAccountEmail'] as string)
}
