/**
 * Jest's environment with a global object of its own. By itself Jest gives each test file a global object behind a Proxy,
 * which every look-up of a global such as `Array` then asks: code that does little else takes twice the time.
 *
 * An engine in this process has one thread, but for the tests of engines: test files run beside each other as it is, and for
 * small tables more threads take a fifth more of the processor.
 */
import os from 'node:os'
import { sep } from 'node:path'
import vm from 'node:vm'
import { TestEnvironment } from 'jest-environment-node'

const { createContext } = vm

const { availableParallelism } = os
const ofEngines = ['', 'shared', 'engines', ''].join(sep)

export default class extends TestEnvironment {
  constructor(...args: ConstructorParameters<typeof TestEnvironment>) {
    os.availableParallelism = args[1].testPath.includes(ofEngines) ? availableParallelism : () => 1
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY)
    try {
      super(...args)
    } finally {
      vm.createContext = createContext
    }
  }
}
