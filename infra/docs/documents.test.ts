/** Documents and comments are true: each document, section, file and stored field that they name exists. */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from '@jest/globals'
import { startService } from '../../functions/testing/service.ts'
import { classes, redactText } from '../../shared/redact/redact.ts'

/** All but what is installed or made. Without git, which an uploaded folder does not have. */
const files = globSync('{*,.ci/*,functions/**,infra/**,queries/**,shared/**}').filter(file =>
  statSync(file).isFile(),
)

/** The prose of a file: all of a document, the comments of a program. */
const prose: Record<string, (text: string) => string[]> = {
  md: text => [text],
  ts: text => text.match(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$/gm) ?? [],
  css: text => text.match(/\/\*[\s\S]*?\*\//g) ?? [],
  sql: text => text.match(/--.*$/gm) ?? [],
  yaml: text => text.match(/#.*$/gm) ?? [],
  sh: text => text.match(/#.*$/gm) ?? [],
}

const passages = files
  .filter(file => file !== 'infra/docs/documents.test.ts')
  .flatMap(file => {
    const read = prose[file.split('.').at(-1)!]
    return read ? [{ file, text: read(readFileSync(file, 'utf8')).join('\n') }] : []
  })

/** All that a pattern finds in the prose, with the file where it stands. */
function cited(pattern: RegExp): { file: string; match: RegExpMatchArray }[] {
  return passages.flatMap(({ file, text }) => [...text.matchAll(pattern)].map(match => ({ file, match })))
}

/** A path as it is written: from the root, or from the file that names it. */
function resolve(file: string, path: string): string | undefined {
  return [path, normalize(join(dirname(file), path))].find(each => existsSync(each))
}

const headingsOf = (document: string) =>
  [...readFileSync(document, 'utf8').matchAll(/^#+ (.+)$/gm)].map(match => match[1]!.replaceAll('`', ''))

/** As GitHub makes an anchor of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

test('every document that is cited exists', () => {
  const missing = cited(/(?<![\w/.-])[\w./-]+\.md\b/g).filter(({ file, match }) => !resolve(file, match[0]))
  expect(missing.map(({ file, match }) => `${file}: ${match[0]}`)).toEqual([])
})

test('every section that is cited is a heading of its document', () => {
  const sections = cited(/([\w./-]+\.md)`?,[\s*#/-]*"([^"]+)"/g)
  expect(sections.length).toBeGreaterThan(5)
  const missing = sections.filter(({ file, match }) => {
    const document = resolve(file, match[1]!)
    return !document || !headingsOf(document).includes(match[2]!.replaceAll(/\s+(\*\s+)?/g, ' '))
  })
  expect(missing.map(({ file, match }) => `${file}: ${match[0]}`)).toEqual([])
})

test('every link between documents leads somewhere', () => {
  const links = cited(/\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)/g).filter(({ file }) =>
    file.endsWith('.md'),
  )
  const broken = links.filter(({ file, match: [, path, anchor] }) => {
    const target = path === '' ? file : normalize(join(dirname(file), path!))
    if (!existsSync(target)) return true
    return anchor !== undefined && !headingsOf(target).map(anchorOf).includes(anchor)
  })
  expect(broken.map(({ file, match }) => `${file}: ${match[0]}`)).toEqual([])
})

test('every path that is named exists', () => {
  /** What a reader is told to make. */
  const examples = ['queries/errors.latest.sql', 'queries/errors.latest.yaml']
  const named = cited(/(?<![\w./@-])(?:functions|shared|queries|infra)\/[\w./*<>-]*[\w/]/g).filter(
    ({ match }) => !/[*<>]|\b[A-Z]+\b\.(sql|yaml|test)/.test(match[0]) && !examples.includes(match[0]),
  )
  expect(named.length).toBeGreaterThan(30)
  const missing = named.filter(({ match }) => !existsSync(match[0]))
  expect(missing.map(({ file, match }) => `${file}: ${match[0]}`)).toEqual([])
})

test('every name that a document places in a file is there', () => {
  const placed = cited(/`(\w+)`\s+in\s+`([\w./-]+\.tsx?)`/g)
  expect(placed.length).toBeGreaterThan(10)
  const missing = placed.filter(({ file, match: [, name, path] }) => {
    const at = resolve(file, path!)
    return !at || !new RegExp(`\\b${name}\\b`).test(readFileSync(at, 'utf8'))
  })
  expect(missing.map(({ file, match }) => `${file}: ${match[0]}`)).toEqual([])
})

test('every folder of the house is on the map, once', () => {
  const map = /## Rooms\n(.*?)\n## /s.exec(readFileSync('shared/README.md', 'utf8'))![1]!
  const rooms = [...map.matchAll(/^\| `([^`]+)`/gm)].map(match => match[1]!.replace(/\/$/, ''))
  expect(rooms.filter((room, at) => rooms.indexOf(room) !== at)).toEqual([])
  const folders = ['functions', 'shared', 'infra'].flatMap(top =>
    files.filter(file => file.startsWith(`${top}/`)).map(file => file.split('/').slice(0, 2).join('/')),
  )
  const houses = [...new Set(folders)].filter(
    each => statSync(each).isDirectory() && !each.endsWith('/testing'),
  )
  expect(houses.filter(each => !rooms.includes(each))).toEqual([])
})

test('every class of personal data is in the reference, with what is out and why', () => {
  const [, page = ''] = readFileSync('infra/docs/reference.md', 'utf8').split('## Redaction\n')
  const rows = [...page.split('\n## ')[0]!.matchAll(/^\| (\w[^|]*?) +\| \S/gm)].map(match => match[1])
  expect(classes.map(({ name }) => name).filter(name => !rows.includes(name))).toEqual([])
  expect(rows.slice(1)).toHaveLength(classes.length)
})

test('what the reference says stays open does', () => {
  const [, list = ''] = readFileSync('infra/docs/reference.md', 'utf8').split('### What stays open\n')
  const points = list.split('\nSome harmless')[0]!.split('\n- **').slice(1)
  expect(points.length).toBeGreaterThan(6)
  for (const point of points)
    for (const [, sample = ''] of point.matchAll(/(?<!`)`([^`]+)`(?!`)/g)) {
      const rest = point.startsWith('The rest') ? /\w+\W*$/.exec(sample)![0] : sample
      expect(redactText(sample).slice(-rest.length)).toBe(rest)
    }
})

/** Fields by collection, as the map says. */
function storedFields(): Map<string, string[]> {
  const [, page = ''] = readFileSync('shared/README.md', 'utf8').split('## Stored documents')
  const tables = page.split(/^`(?=\w+\/)/m).slice(1)
  return new Map(
    tables.map(table => [
      table.split('/', 1)[0]!,
      [...table.matchAll(/^\| `(\w+)`/gm)].map(match => match[1]!),
    ]),
  )
}

test('every field of a stored document is in the map', async () => {
  const service = await startService({ tables: { 'cloudflare.logs.prod': [] } })
  try {
    await service.issue({ limits: { callsPerMinute: null, bytesPerDay: 1 } })
    await service.fetch('/api/endpoints/query/usage.api-counts?interval=daily&project=a')
    const database = new DatabaseSync(join(service.env['DATA_DIR']!, 'store.sqlite'), { readOnly: true })
    const stored = database
      .prepare('select distinct collection, name from documents join fields on document = key')
      .all() as { collection: string; name: string }[]
    database.close()
    const known = storedFields()
    expect(stored.length).toBeGreaterThan(20)
    expect(stored.filter(({ collection, name }) => !known.get(collection)?.includes(name))).toEqual([])
  } finally {
    await service.stop()
  }
})
