/** Cloud Scheduler: jobs. */
import { demandActAs } from './permissions.ts'
import { type Call, create, get, type Json, listed, patch, read, removed, route } from './plane.ts'

const jobsAt = 'cloudscheduler/v1/projects/{project}/locations/{location}/jobs'

export const schedulerRoutes = [
  route('GET', jobsAt, 'cloudscheduler.jobs.list', listed('jobs')),
  route('POST', jobsAt, 'cloudscheduler.jobs.create', createJob),
  route('GET', `${jobsAt}/{job}`, 'cloudscheduler.jobs.get', read),
  route('PATCH', `${jobsAt}/{job}`, 'cloudscheduler.jobs.update', updateJob),
  route('DELETE', `${jobsAt}/{job}`, 'cloudscheduler.jobs.delete', removed),
]

function createJob(call: Call): Json {
  checkAccount(call)
  return create(call.state, call.body['name'] as string, call.body)
}

function updateJob(call: Call): Json {
  const job = get(call.state, call.name)
  checkAccount(call)
  patch(job, call.body, call.query.get('updateMask')!.split(','))
  return job
}

/** "Use authentication with HTTP targets": the caller must be allowed to act as the job's account. */
function checkAccount(call: Call): void {
  const { oidcToken } = (call.body['httpTarget'] ?? {}) as { oidcToken?: Json }
  if (oidcToken) demandActAs(call, call.params['project']!, oidcToken['serviceAccountEmail'] as string)
}
