/** The tests of an alert, which stand in its file: whether it fires over these rows, and what it tells. */
import { evaluate, fillText } from '../../../shared/alerts/state.ts'
import type { AlertSource } from '../apply/alerts.ts'
import type { FileProblem } from '../apply/yaml.ts'

/** @returns a problem for each case in which the alert does otherwise */
export function failedAlertCases({ alert, tests, problem }: AlertSource): FileProblem[] {
  return tests.flatMap(({ name, rows, before, fires, text }, at) => {
    const evaluation = evaluate(alert.condition, rows, before)
    const fault = (field: string, words: string) =>
      problem(`/tests/${at}/${field}`, name === undefined ? words : `"${name}" ${words}`)
    if (fires !== (evaluation.finding === 'firing'))
      return [
        fault(
          'fires',
          `is otherwise: the alert is ${evaluation.finding}, with the value ${evaluation.value}`,
        ),
      ]
    const said = fillText(alert, alert.sets[0]!, evaluation).text
    return text === undefined || text === said ? [] : [fault('text', `is otherwise: ${JSON.stringify(said)}`)]
  })
}
