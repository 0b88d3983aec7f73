/* Required before our programs, which an older Node, or none of our packages, keeps from even being read: it says so. */
const { existsSync } = require('node:fs')
const { enableCompileCache } = require('node:module')
const { join } = require('node:path')
const { engines } = require('../../package.json')

const isRepository = existsSync(join(__dirname, 'start.ts'))
const [major, minor] = process.versions.node.split('.').map(Number)
const [, neededMajor, neededMinor] = /(\d+)\.(\d+)/.exec(engines.node).map(Number)
if (major < neededMajor || (major === neededMajor && minor < neededMinor)) {
  const what =
    process.platform === 'linux' && isRepository
      ? 'npm ci brings its own, which npm start and npx lqe take'
      : 'install Node 24, as from https://nodejs.org'
  console.error(`This needs Node ${engines.node}, and this is ${process.versions.node}: ${what}.`)
  process.exit(1)
}

/** The folder of all packages: the repository's, or the one that this package is in. */
function packages() {
  try {
    const [, folder] = /^(.*[\\/]node_modules)[\\/]@google-cloud/.exec(
      require.resolve('@google-cloud/functions-framework'),
    )
    return folder
  } catch {
    console.error(`The packages are not installed: run npm ${isRepository ? 'ci' : 'install'} first.`)
    process.exit(1)
  }
}

// Programs start in a third of the time where they are not compiled again. Not in a folder that others can write.
enableCompileCache(join(packages(), '.cache/node'))
