import { describe, expect, test } from '@jest/globals'
import { ConfigError, loadConfig, settings } from './config.ts'

describe('the settings', () => {
  test('of an empty environment are a laptop’s', () => {
    expect(loadConfig({})).toMatchObject({
      engine: 'duckdb',
      store: 'sqlite',
      corsOrigin: '*',
      maxBytesBilled: null,
    })
  })

  test('on Cloud Run are the cloud’s', () => {
    expect(loadConfig({ K_SERVICE: 'query' })).toMatchObject({
      engine: 'bigquery',
      store: 'firestore',
      maxBytesBilled: 50_000_000_000,
    })
  })

  test.each([
    ['ENGINE', 'postgres'],
    ['STORE', 'redis'],
    ['MAX_URL_BYTES', 'many'],
    ['MAX_RESULT_BYTES', '40000000'],
    ['MAX_BYTES_IN_FLIGHT', '1'],
    ['DRAIN_MS', '-1'],
    ['CORS_ORIGIN', 'https://a.example/path'],
    ['GOOGLE_CLOUD_PROJECT', 'no such id'],
    ['FROZEN_NOW', 'yesterday'],
    ['BIGQUERY_DATASET', 'a.b.c.d e'],
    ['BIGQUERY_DATASET', 'a.b.c.d'],
    ['BIGQUERY_DATASET', 'my.project.logs'],
    ['BIGQUERY_TABLES', 'postgres.logs=a.b.c.d.e'],
    ['ENGINE_MEMORY_BYTES', '1000000000001'],
    ['EXPLORER_DIR', '/nope'],
    ['BIGQUERY_TABLES', 'postgres.logs=dataset.table'],
    ['BIGQUERY_LOCATION', 'E U'],
    ['MAX_BYTES_BILLED', '1e9'],
    ['BIGQUERY_EMULATOR_HOST', 'localhost:9050'],
    ['JWT_ISSUERS', '{}'],
    ['JWT_ISSUERS', '[{'],
    ['PUBLIC_URL', 'api.example.com'],
    ['WARM_AUDIENCE', 'warm'],
    ['WARM_SERVICE_ACCOUNT', 'somebody'],
    ['WARM_DEADLINE_MS', '10'],
    ['ALERTS_TO_LOOPBACK', 'true'],
  ])('%s=%s is refused by the name of the setting', (variable, text) => {
    expect(() => loadConfig({ [variable]: text })).toThrow(ConfigError)
    expect(() => loadConfig({ [variable]: text })).toThrow(new RegExp(`^${variable} must be `))
  })

  test('that keep data on a local disk are refused on Cloud Run', () => {
    expect(() => loadConfig({ K_SERVICE: 'query', STORE: 'sqlite' })).toThrow(/Cloud Run/)
  })

  test('that send alerts to this machine are refused on Cloud Run', () => {
    expect(loadConfig({ ALERTS_TO_LOOPBACK: 'yes' }).alertsToLoopback).toBe(true)
    expect(() => loadConfig({ K_SERVICE: 'warm', ALERTS_TO_LOOPBACK: 'yes' })).toThrow(/Cloud Run/)
  })

  test('of the warm function’s caller are set both or not at all', () => {
    expect(() => loadConfig({ WARM_AUDIENCE: 'https://a.example/warm' })).toThrow(/set both, or none/)
  })

  test('say where BigQuery’s tables are', () => {
    const env = {
      BIGQUERY_DATASET: 'acme-logs.warehouse',
      BIGQUERY_TABLES: 'postgres.logs=acme-logs.other.pg, deno-relay-logs=example.com:acme.other.relay',
    }
    const { bigQueryDataset, bigQueryTables } = loadConfig(env)
    expect(bigQueryDataset).toBe('acme-logs.warehouse')
    expect([...bigQueryTables]).toEqual([
      ['postgres.logs', 'acme-logs.other.pg'],
      ['deno-relay-logs', 'example.com:acme.other.relay'],
    ])
  })

  test.each([
    ['BIGQUERY_EMULATOR_HOST', 'http://localhost:9050'],
    ['FIRESTORE_EMULATOR_HOST', 'localhost:8080'],
  ])('never send a deployed service’s credentials to a server of one’s own: %s', (variable, address) => {
    expect(() => loadConfig({ K_SERVICE: 'query', [variable]: address })).toThrow(new RegExp(`^${variable}`))
    expect(() => loadConfig({ [variable]: address })).not.toThrow()
  })

  test('that are empty count as unset', () => {
    for (const { variable } of Object.values(settings))
      expect(loadConfig({ [variable]: '' })).toEqual({ ...loadConfig({}), secret: expect.any(Function) })
  })

  test('each have a variable of their own and a description', () => {
    const variables = Object.values(settings).map(({ variable }) => variable)
    expect(new Set(variables).size).toBe(variables.length)
    for (const { description } of Object.values(settings)) expect(description).toMatch(/^[A-Z]/)
  })
})
