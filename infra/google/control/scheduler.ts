/** Cloud Scheduler: jobs. */
import { demandActAs } from './permissions.ts'
import { type Call, collection, create, get, type Json, maskOf, patch, route } from './plane.ts'

const jobsAt = 'cloudscheduler/v1/projects/{project}/locations/{location}/jobs'

export const schedulerRoutes = [
  ...collection(jobsAt, 'jobs', 'cloudscheduler.jobs'),
  route('POST', jobsAt, 'cloudscheduler.jobs.create', createJob),
  route('PATCH', `${jobsAt}/{job}`, 'cloudscheduler.jobs.update', updateJob),
]

function createJob(call: Call): Json {
  checkAccount(call)
  return create(call.state, call.body['name'] as string, worded(call.body))
}

function updateJob(call: Call): Json {
  const job = get(call.state, call.name)
  checkAccount(call)
  patch(job, worded(call.body), maskOf(call))
  return job
}

/** Google's client for Node.js sends the method's number ("REST Resource: projects.locations.jobs", `HttpMethod`). */
function worded({ httpTarget, ...job }: Json): Json {
  const { httpMethod } = (httpTarget ?? {}) as Json
  return {
    ...job,
    httpTarget: { ...(httpTarget as Json), httpMethod: httpMethod === 1 ? 'POST' : httpMethod },
  }
}

/** "Use authentication with HTTP targets": the caller must be allowed to act as the job's account. */
function checkAccount(call: Call): void {
  const { oidcToken } = (call.body['httpTarget'] ?? {}) as { oidcToken?: Json }
  if (oidcToken) demandActAs(call, call.params['project']!, oidcToken['serviceAccountEmail'] as string)
}
