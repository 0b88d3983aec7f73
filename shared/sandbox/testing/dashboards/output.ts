/** Logs of edge functions, alone and beside their invocations. */
import { type Dashboard, floor, groups, known, sorted } from './dashboard.ts'
import { minute } from './logs.ts'

const output = 'from function_logs as t cross join unnest(t.metadata) as m'

export const outputDashboards: Dashboard[] = [
  [
    'what functions log by level and minute',
    `select timestamp_trunc(t.timestamp, minute) as minute, m.level, count(*) as count ${output}
     where m.event_type = 'Log' group by minute, level order by minute, level`,
    ({ functions }) =>
      sorted(
        groups(
          functions.filter(({ event }) => event === 'Log'),
          row => [floor(row.time, minute), row.level],
        ).map(({ keys, entries }) => ({ minute: keys[0], level: keys[1], count: entries.length })),
        row => [row.minute, row.level],
      ),
  ],
  [
    'errors of functions without their line breaks',
    `select t.id, rtrim(event_message) as message ${output} where m.level = 'error' order by t.timestamp`,
    ({ functions }) =>
      functions
        .filter(({ level }) => level === 'error')
        .map(({ id, message }) => ({ id, message: message.trimEnd() })),
  ],
  [
    'how long functions take to boot',
    `select m.function_id as function, max(cast(regexp_extract(event_message, r'time: (\\d+)ms') as int64)) as boot ${output}
     where m.event_type = 'Boot' group by function order by function`,
    ({ functions }) =>
      sorted(
        groups(
          functions.filter(({ event }) => event === 'Boot'),
          row => [row.name],
        ).map(({ keys: [name], entries }) => ({
          function: name,
          boot: Math.max(...entries.map(({ message }) => Number(/time: (\d+)ms/.exec(message)![1]))),
        })),
        row => [row.function],
      ),
  ],
  [
    'entries of one execution, in their order',
    `select t.id, m.event_type ${output} where m.execution_id = 'exec-07' order by t.timestamp`,
    ({ functions }) =>
      functions
        .filter(({ execution }) => execution === 'exec-07')
        .map(({ id, event }) => ({ id, event_type: event })),
  ],
  [
    'invocations with the number of lines they logged',
    `with lines as (select m.execution_id as execution, count(*) as lines ${output} group by execution)
     select t.id, ifnull(lines.lines, 0) as lines
     from function_edge_logs as t cross join unnest(t.metadata) as m left join lines on lines.execution = m.execution_id
     order by t.id`,
    ({ functionEdge, functions }) =>
      functionEdge.map(({ id, execution }) => ({
        id,
        lines: functions.filter(line => line.execution === execution).length,
      })),
  ],
  [
    'failed invocations with the errors of their execution',
    `select e.id, l.event_message
     from function_edge_logs as e cross join unnest(e.metadata) as em cross join unnest(em.response) as response
     join (select m.execution_id, t.event_message, t.id ${output} where m.level = 'error') as l
       on l.execution_id = em.execution_id
     where response.status_code >= 500 order by e.id, l.id`,
    ({ functionEdge, functions }) =>
      functionEdge
        .filter(({ status }) => status >= 500)
        .flatMap(({ id, execution }) =>
          functions
            .filter(line => line.level === 'error' && line.execution === execution)
            .map(({ message }) => ({ id, event_message: message })),
        ),
  ],
  [
    'executions that logged and were never asked for',
    `select distinct m.execution_id as execution ${output}
     where m.execution_id not in (select em.execution_id from function_edge_logs as e cross join unnest(e.metadata) as em)
     order by execution`,
    ({ functionEdge, functions }) => {
      const asked = new Set(functionEdge.map(({ execution }) => execution))
      const silent = functions.map(({ execution }) => execution).filter(execution => !asked.has(execution))
      return [...new Set(silent)].toSorted().map(execution => ({ execution }))
    },
  ],
  [
    'the time since the invocation before, by function',
    `select t.id, timestamp_diff(t.timestamp, lag(t.timestamp) over (partition by m.function_id order by t.timestamp), millisecond) as gap
     from function_edge_logs as t cross join unnest(t.metadata) as m order by t.id`,
    ({ functionEdge }) =>
      functionEdge.map(({ id, name, time }) => {
        const before = functionEdge.findLast(other => other.name === name && other.time < time)
        return { id, gap: before ? Math.trunc((time - before.time) / 1000) : null }
      }),
  ],
  [
    'the three slowest of each function',
    `select function, ms from (
       select m.function_id as function, m.execution_time_ms as ms,
         rank() over (partition by m.function_id order by m.execution_time_ms desc) as place
       from function_edge_logs as t cross join unnest(t.metadata) as m)
     where place <= 3 order by function, ms desc`,
    ({ functionEdge }) =>
      sorted(
        groups(functionEdge, row => [row.name]).flatMap(({ keys: [name], entries }) =>
          sorted(entries, row => [-row.ms])
            .slice(0, 3)
            .map(({ ms }) => ({ function: name, ms })),
        ),
        row => [row.function, -row.ms],
      ),
  ],
  [
    'the origin and the functions side by side',
    `select 'edge' as source, count(*) as count, max(response.origin_time) as slowest
     from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.response) as response
     union all
     select 'functions', count(*), max(m.execution_time_ms) from function_edge_logs as t cross join unnest(t.metadata) as m
     order by source`,
    ({ edge, functionEdge }) => [
      { source: 'edge', count: edge.length, slowest: Math.max(...known(edge.map(({ origin }) => origin))) },
      {
        source: 'functions',
        count: functionEdge.length,
        slowest: Math.max(...functionEdge.map(({ ms }) => ms)),
      },
    ],
  ],
]
