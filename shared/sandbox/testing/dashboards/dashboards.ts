import { authDashboards } from './auth.ts'
import { combinedDashboards } from './combined.ts'
import type { Dashboard } from './dashboard.ts'
import { databaseDashboards } from './database.ts'
import { functionDashboards } from './functions.ts'
import { outputDashboards } from './output.ts'
import { rateDashboards } from './rates.ts'
import { requestDashboards } from './requests.ts'
import { serviceDashboards } from './services.ts'
import { trafficDashboards } from './traffic.ts'
import { valueDashboards } from './values.ts'

/** By subject. */
export const dashboards: Record<string, Dashboard[]> = {
  'traffic at the edge': trafficDashboards,
  'rates and times at the edge': rateDashboards,
  'single requests': requestDashboards,
  'sign-ins': authDashboards,
  'the database': databaseDashboards,
  'the services around the database': serviceDashboards,
  'invocations of functions': functionDashboards,
  'the output of functions': outputDashboards,
  'windows, set operations and joins': combinedDashboards,
  'dates, arrays, JSON and strings': valueDashboards,
}
