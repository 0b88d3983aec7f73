#!/usr/bin/env node
/* `lqe`, in the repository and in an installed package. */
require('../local/node-version.cjs')
const { existsSync } = require('node:fs')
const { join } = require('node:path')

const source = join(__dirname, 'lqe.ts')
void import(existsSync(source) ? source : join(__dirname, '../../dist/lqe.js'))
