import { types } from 'node:util'
import vm from 'node:vm'
import { expect, test } from '@jest/globals'
import { TestEnvironment } from 'jest-environment-node'
import OwnEnvironment from './environment.ts'

test('the global object of a test: behind a Proxy by Jest itself, not with our environment', async () => {
  const config = { projectConfig: { globals: {}, testEnvironmentOptions: {} } }
  const behindProxy = await Promise.all(
    [TestEnvironment, OwnEnvironment].map(async Environment => {
      const environment = new Environment(config as never, { testPath: '' } as never)
      const context = environment.getVmContext()
      await environment.teardown()
      return types.isProxy(context)
    }),
  )
  expect(behindProxy).toEqual([true, false])
})

test('what a process has compiled it does not compile again', () => {
  const code = `return ${JSON.stringify(crypto.randomUUID())}`
  const [first, second] = [vm.compileFunction(code), vm.compileFunction(code)]
  expect([first.cachedDataProduced, second.cachedDataRejected]).toEqual([true, false])
  expect(second()).toBe(first())
})
