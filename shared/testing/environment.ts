/**
 * Jest's environment with a global object of its own. By itself Jest gives each test file a global object behind a Proxy,
 * which every look-up of a global such as `Array` then asks: code that does little else takes twice the time.
 */
import vm from 'node:vm'
import { TestEnvironment } from 'jest-environment-node'

const { createContext } = vm

export default class extends TestEnvironment {
  constructor(...args: ConstructorParameters<typeof TestEnvironment>) {
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY)
    try {
      super(...args)
    } finally {
      vm.createContext = createContext
    }
  }
}
