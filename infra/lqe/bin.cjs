#!/usr/bin/env node
/* `lqe`, in the repository and in an installed package. */
require('../local/node-version.cjs')
const { existsSync } = require('node:fs')
const { join } = require('node:path')

// Nothing that a user could do something about: that the SQLite of Node 22 is new, and, away from Google, that none of its machines
// answered. The error that follows says how to sign in.
const { emitWarning } = process
process.emitWarning = (warning, ...rest) => {
  const isNoise =
    String(warning).startsWith('SQLite is an experimental') || rest[0] === 'MetadataLookupWarning'
  if (!isNoise) emitWarning(warning, ...rest)
}

const source = join(__dirname, '../lqe.ts')
void import(existsSync(source) ? source : join(__dirname, '../../dist/lqe.js'))
