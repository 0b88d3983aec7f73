/* Required before our programs, which an older Node, or none of our packages, keeps from even being read: it says so. */
const { existsSync } = require('node:fs')
const { enableCompileCache } = require('node:module')
const { join } = require('node:path')
const { engines } = require('../../package.json')

const [major, minor] = process.versions.node.split('.').map(Number)
const [, neededMajor, neededMinor] = /(\d+)\.(\d+)/.exec(engines.node).map(Number)
if (major < neededMajor || (major === neededMajor && minor < neededMinor)) {
  const what =
    process.platform === 'linux'
      ? 'npm ci brings its own, which npm start and npm run lqe take'
      : 'install Node 24, as from https://nodejs.org'
  console.error(`This needs Node ${engines.node}, and this is ${process.versions.node}: ${what}.`)
  process.exit(1)
}
const packages = join(__dirname, '../../node_modules')
if (!existsSync(packages)) {
  console.error('The packages are not installed: run npm ci first.')
  process.exit(1)
}

// Programs start in a third of the time where their types are not stripped again. Not in a folder that others can write.
enableCompileCache(join(packages, '.cache/node'))
