/** Alerts of `queries/`: each is `<name>.alert.yaml` beside the endpoints, and is stored with the one whose rows it looks at. */
import { basename } from 'node:path'
import { alertFrom, type AlertCase } from '../../../shared/alerts/alert-file.ts'
import type { Alert } from '../../../shared/endpoints/definition.ts'
import { atPlaces, type ProblemAt, problemsIn, readYaml } from './yaml.ts'

export const alertEnding = '.alert.yaml'

/** An alert with its file. */
export interface AlertSource {
  alert: Alert
  /** Name of its endpoint. */
  endpoint: string
  tests: AlertCase[]
  file: string
  problem: ProblemAt
}

/** @throws QueriesError */
export function readAlert(file: string): AlertSource {
  const { content, placeIn } = readYaml(file)
  const problem = problemsIn(file, placeIn)
  return { ...atPlaces(problem, () => alertFrom(basename(file, alertEnding), content)), file, problem }
}
