/**
 * A release: `npm version minor` runs this before it commits and tags. The heading of what is not released gets the number and the
 * day, and what `npm publish` would take is printed with the notes. Publishing is left to a person.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const changes = 'infra/docs/changelog.md'
const { name, version } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
  'name' | 'version',
  string
>
const text = readFileSync(changes, 'utf8')
const [, before, notes] = /^([^]*\n)## [^\n]*not released\n+([^]*?)\n*(?=\n## |$(?![^]))/i.exec(text) ?? []
if (before === undefined || !notes) {
  console.error(
    `${changes} has no section "## ..., not released" with what is new: write it, then run npm version again.`,
  )
  process.exit(1)
}
const day = new Date().toISOString().slice(0, 10)
const rest = text.slice(before.length).replace(/^.*/, `## ${version}, ${day}`)
writeFileSync(changes, before + rest)
execFileSync('git', ['add', changes])
execFileSync('npm', ['publish', '--dry-run', '--loglevel=notice'], { stdio: ['ignore', 'inherit', 1] })
console.log(`\n${name} ${version}:\n\n${notes}\n\nNow: git push --follow-tags && npm publish`)
