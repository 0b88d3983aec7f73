/** Whose work the bundles hold besides ours: the packages in them, with the texts of their licences, which have to go with the copies. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'esbuild'

/** Folders of packages of which a bundle of this process holds something, and what is said in their files. */
const bundled = new Set<string>()
const comments = new Set<string>()

/** Notes the packages of a bundle. What is said in their files esbuild writes beside each output ("Legal comments"): it is taken away. */
export const notePackages: Plugin = {
  name: 'note-packages',
  setup({ initialOptions, onEnd }) {
    Object.assign(initialOptions, { metafile: true, legalComments: 'external' })
    onEnd(({ metafile }) => {
      const outputs = metafile?.outputs ?? {}
      for (const [output, { inputs }] of Object.entries(outputs)) {
        for (const file of Object.keys(inputs)) {
          const [folder] = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file) ?? []
          if (folder && !file.includes(':')) bundled.add(folder)
        }
        if (!output.endsWith('.LEGAL.txt')) continue
        comments.add(readFileSync(output, 'utf8').trim())
        rmSync(output)
        delete outputs[output]
      }
    })
  },
}

/** Writes `notices.txt` into the folder. @returns how many packages there are */
export function writeNotices(folder: string): number {
  const named = new Map<string, string[]>()
  for (const one of [...bundled].toSorted()) {
    const { title, text } = licenceOf(one)
    named.set(text, [...(named.get(text) ?? []), title])
  }
  const parts = [...named].map(([text, titles]) => `${titles.join('\n')}\n\n${text}`)
  const head = 'dist/ holds parts of the packages below, under their licences.'
  writeFileSync(
    join(folder, 'notices.txt'),
    `${[head, ...parts, ...[...comments].toSorted()].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`,
  )
  return bundled.size
}

function licenceOf(folder: string): { title: string; text: string } {
  const { name, version, license, author, homepage } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as Record<'name' | 'version' | 'license' | 'homepage', string> & { author?: string | { name: string } }
  const read = (names: RegExp) =>
    readdirSync(folder).flatMap(file =>
      names.test(file) ? readFileSync(join(folder, file), 'utf8').trim() : [],
    )
  const texts = read(/^(licen[cs]e|copying|notice)/i)
  // Some have it at the end of their README alone.
  if (texts.length === 0)
    texts.push(...read(/^readme/i).flatMap(text => /^#* *\(?licen[cs]e[^]*permission[^]*/im.exec(text) ?? []))
  const by = typeof author === 'object' ? author.name : author
  const none = `The package says this alone: licence ${license}, by ${by ?? 'its authors'}${homepage ? `, ${homepage}` : ''}`
  return { title: `${name} ${version} (${license})`, text: texts.join('\n\n') || none }
}
