import { describe, expect, test } from '@jest/globals'
import { summaryOf } from './views.ts'

describe('a view in a line', () => {
  test.each([
    ['#logs.all', ''],
    ['#logs.all?project=abc&.from=now-6h', 'last 6 hours, project abc'],
    [
      '#logs.all?.table=*&.search=time%26out&.severity=error%2Cwarning&.by=metadata.request.path',
      'all tables, “time&out”, error or warning, by path',
    ],
    [
      '#logs.all?.where=metadata.request.method%3D%22GET%22&.where=metadata.response.status_code%3E%3D500',
      'method = GET, status_code >= 500',
    ],
    ['#logs.all?.where=broken&.measure=p95%3Ametadata.response.origin_time', 'broken, p95 origin_time'],
    ['#logs.all?.from=&.to=', 'all time'],
    ['#logs.all?.from=2026-03-10T12%3A00Z&.to=', '2026-03-10T12:00Z to the last'],
    ['#logs.all?sql=SELECT+1%0A++FROM+t&.view=query', 'SELECT 1 FROM t'],
    [`#logs.all?sql=${'x'.repeat(500)}`, `${'x'.repeat(120)} …`],
    ['', ''],
  ])('%s: %s', (address, summary) => expect(summaryOf(address)).toBe(summary))
})
