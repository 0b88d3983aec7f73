/**
 * User-defined functions: what DuckDB's SQL cannot express of GoogleSQL, in JavaScript. The rewriting calls them by name.
 * DuckDB calls them with chunks of up to 2,048 rows on the main thread of the engine's process.
 */
import type {
  DuckDBConnection,
  DuckDBDataChunk,
  DuckDBStructVector,
  DuckDBType,
  DuckDBVector,
} from '@duckdb/node-api'
import { dateCastFunctions } from './date-casts.ts'
import { dateTextFunctions } from './date-text.ts'
import { formatModelFunctions } from './format-model.ts'
import { intervalFunctions } from './interval.ts'
import { jsonFunctions } from './json.ts'
import { jsonTextFunctions } from './json-text.ts'
import { netFunctions, textFunctions } from './text.ts'
import { numericFunctions } from './numeric.ts'
import { type ColumnType, type Interval, type ScalarFunction, ValueError } from './udf.ts'
import { zoneOffsetMacro } from './time-zones.ts'

const functions: Record<string, ScalarFunction> = {
  ...dateCastFunctions,
  ...dateTextFunctions,
  ...formatModelFunctions,
  ...intervalFunctions,
  ...jsonFunctions,
  ...jsonTextFunctions,
  ...netFunctions,
  ...numericFunctions,
  ...textFunctions,
}

/**
 * Makes the functions known to the database of a connection. Of a column that is stored as a dictionary DuckDB (1.5) computes a
 * function for all of it, and so fails for values of rows that WHERE or IF leave out; but not a function that returns a
 * STRUCT. So each returns one, and a macro takes its field.
 */
export async function registerUdfs(connection: DuckDBConnection): Promise<void> {
  const duckdb = await import('@duckdb/node-api')
  const types: Record<ColumnType, DuckDBType> = {
    BIGINT: duckdb.BIGINT,
    BLOB: duckdb.BLOB,
    BOOLEAN: duckdb.BOOLEAN,
    DECIMAL: duckdb.DECIMAL(38, 9),
    DOUBLE: duckdb.DOUBLE,
    INTERVAL: duckdb.INTERVAL,
    VARCHAR: duckdb.VARCHAR,
    'VARCHAR[]': duckdb.LIST(duckdb.VARCHAR),
  }
  /** From a value of JavaScript to DuckDB's. */
  const writers: Partial<Record<ColumnType, (value: never) => unknown>> = {
    BLOB: (bytes: Uint8Array) => new duckdb.DuckDBBlobValue(bytes),
    DECIMAL: (units: bigint) => new duckdb.DuckDBDecimalValue(units, 38, 9),
    INTERVAL: ({ months, days, micros }: Interval) => new duckdb.DuckDBIntervalValue(months, days, micros),
    'VARCHAR[]': (items: string[]) => new duckdb.DuckDBListValue(items),
  }
  const macros = [zoneOffsetMacro]
  for (const [name, { parameters, returns, compute }] of Object.entries(functions)) {
    const write = (writers[returns] ?? ((value: unknown) => value)) as (value: unknown) => never
    const mainFunction = (
      info: { setError(error: string): void },
      input: DuckDBDataChunk,
      output: DuckDBVector,
    ) => {
      try {
        const results = (output as DuckDBStructVector).entryVectorAt(0)
        forEachRow(input, parameters, (row, values) => {
          const value = values.includes(null)
            ? null
            : (compute as (...values: unknown[]) => unknown)(...values)
          results.setItem(row, value === null ? null : write(value))
        })
        results.flush()
      } catch (error) {
        info.setError(error instanceof ValueError ? `GoogleSQL: ${error.message}` : 'A function failed')
      }
    }
    connection.registerScalarFunction(
      duckdb.DuckDBScalarFunction.create({
        name: `${name}_in_struct`,
        mainFunction,
        returnType: duckdb.STRUCT({ v: types[returns] }),
        parameterTypes: parameters.map(type => types[type]),
        specialHandling: true,
      }),
    )
    const names = parameters.map((_, at) => `p${at}`).join(', ')
    macros.push(`CREATE MACRO ${name}(${names}) AS (${name}_in_struct(${names})).v`)
  }
  await connection.run(macros.join(';'))
}

/** From DuckDB's values to those of JavaScript. */
const readers: Partial<Record<ColumnType, (value: never) => unknown>> = {
  BLOB: ({ bytes }: { bytes: Uint8Array }) => bytes,
  DECIMAL: ({ value }: { value: bigint }) => value,
  'VARCHAR[]': ({ items }: { items: unknown[] }) => items,
}

function forEachRow(
  input: DuckDBDataChunk,
  parameters: ColumnType[],
  act: (row: number, values: unknown[]) => void,
): void {
  const columns = parameters.map((type, at) => ({ vector: input.getColumnVector(at), read: readers[type] }))
  const values: unknown[] = []
  for (let row = 0; row < input.rowCount; row++) {
    for (let at = 0; at < columns.length; at++) {
      const { vector, read } = columns[at]!
      const value = vector.getItem(row)
      values[at] = value === null || !read ? value : read(value as never)
    }
    act(row, values)
  }
}
