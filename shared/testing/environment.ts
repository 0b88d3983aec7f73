/**
 * Jest's environment with a global object of its own. By itself Jest gives each test file a global object behind a Proxy,
 * which every look-up of a global such as `Array` then asks: code that does little else takes twice the time.
 *
 * What a process has compiled for one test file it does not compile again for the next, which imports much of the same: a fifth
 * of what it takes to begin a file.
 *
 * An engine in this process has one thread, but for the tests of engines: test files run beside each other as it is, and for
 * small tables more threads take a fifth more of the processor.
 */
import os from 'node:os'
import { sep } from 'node:path'
import vm from 'node:vm'
import { TestEnvironment } from 'jest-environment-node'

const { compileFunction, createContext, SourceTextModule } = vm

/** V8's form of compiled code, by its text. */
const compiled = new Map<string, Buffer>()

const compiling: Partial<typeof vm> = {
  compileFunction(code, names, options) {
    const cachedData = compiled.get(code)
    if (cachedData) return compileFunction(code, names, { ...options, cachedData })
    const made = compileFunction(code, names, { ...options, produceCachedData: true })
    compiled.set(code, made.cachedData!)
    return made
  },
  SourceTextModule: class extends SourceTextModule {
    declare createCachedData: () => Buffer
    constructor(code: string, options: vm.SourceTextModuleOptions) {
      const cachedData = compiled.get(code)
      super(code, cachedData ? { ...options, cachedData } : options)
      if (!cachedData) compiled.set(code, this.createCachedData())
    }
  },
}

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
  override async setup(): Promise<void> {
    await super.setup()
    Object.assign(vm, compiling)
  }
}
