/** For tests: the shell blocks of the pages that a person who deploys reads, and why some of their commands are not run. */
import { readFileSync } from 'node:fs'

export interface Block {
  /** `infra/docs/operating.md:9`: where it begins. */
  at: string
  commands: string[]
}

/** In the order in which they are tried: the first begins with an empty project. */
const pages = [...['operating', 'rows', 'cloud-shell'].map(name => `infra/docs/${name}.md`), 'README.md']

/** Commands that stand-ins cannot take. gcloud's own are linted all the same. */
export const notRun: [commands: RegExp, reason: string][] = [
  [/^gcloud auth /, 'it opens a browser'],
  [/^npm ci$/, 'packages are there; `npm run rehearse` installs them, in an image without any'],
  [/^git switch /, 'it would change the files that are tried'],
  [/--at-once$/, 'it is refused for half a minute after the line above it'],
  [/=roles\/bigquery\.dataOwner /, 'the stand-in knows the roles alone that a deployment grants'],
  [/^npm run soak /, 'it takes minutes, and is a test itself'],
  [
    /^gcloud beta builds submit /,
    'there is no Cloud Storage here; `npm run rehearse` runs the steps of the file',
  ],
  [/^gcloud run /, 'it asks version 1 of the Cloud Run API, which the stand-in has not'],
  [/^gcloud logging read /, 'the stand-in keeps no log entries'],
  [/^gcloud artifacts /, 'the stand-in has no Artifact Registry'],
  [/^gcloud scheduler jobs run /, 'the stand-in has no clock; `npm run rehearse` calls a job'],
  [/^docker /, 'it needs a daemon; image.soak.ts carries out the lines of the Dockerfile'],
  [/^gcloud pubsub /, 'the stand-in has no Pub/Sub'],
  [/^bq /, 'its statements are BigQuery’s alone'],
]

export function reasonNotToRun(command: string): string | undefined {
  return notRun.find(([commands]) => commands.test(command))?.[1]
}

/**
 * All of them. In prose, commands of the deployment are blocks of one line. The README's own blocks are for a laptop, and
 * `readme.test.ts` runs them.
 */
export function blocksOfGuide(): Block[] {
  return pages.flatMap(page => {
    const text = readFileSync(page, 'utf8')
    const found = text.matchAll(/^```sh\n(.*?)\n```$|`(npx lqe deploy [^`]*=[^`]*)`/gms)
    const tried = [...found].filter(([, block]) => block === undefined || page !== 'README.md')
    return tried.map(({ index, 1: block, 2: inline }) => ({
      at: `${page}:${text.slice(0, index).split('\n').length}`,
      commands: (block ?? inline!).split('\n'),
    }))
  })
}
