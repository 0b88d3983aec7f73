/** Cloud Scheduler: jobs. */
import { demandActAs } from './permissions.ts'
import { type Call, collection, type Json } from './plane.ts'

export const schedulerRoutes = collection(
  'cloudscheduler/v1/projects/{project}/locations/{location}/jobs',
  'cloudscheduler.jobs',
  { check: checkedJob },
)

/** "Use authentication with HTTP targets": the caller must be allowed to act as the job's account. */
function checkedJob(call: Call, { httpTarget, ...job }: Json): Json {
  const { httpMethod, oidcToken, ...target } = (httpTarget ?? {}) as Json
  if (oidcToken)
    demandActAs(call, call.params['project']!, (oidcToken as Json)['serviceAccountEmail'] as string)
  // Google's client for Node.js sends the method's number ("REST Resource: projects.locations.jobs", `HttpMethod`).
  const method = httpMethod === 1 ? 'POST' : httpMethod
  return { ...job, httpTarget: { ...target, oidcToken, httpMethod: method } }
}
