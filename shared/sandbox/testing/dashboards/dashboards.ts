import { authDashboards } from './auth.ts'
import type { Dashboard } from './dashboard.ts'
import { databaseDashboards } from './database.ts'
import { functionDashboards } from './functions.ts'
import { languageDashboards } from './language.ts'
import { requestDashboards } from './requests.ts'
import { trafficDashboards } from './traffic.ts'

/** By subject. */
export const dashboards: Record<string, Dashboard[]> = {
  'traffic at the edge': trafficDashboards,
  'single requests': requestDashboards,
  'sign-ins': authDashboards,
  'the database and what stands around it': databaseDashboards,
  'edge functions': functionDashboards,
  'corners of the language': languageDashboards,
}
