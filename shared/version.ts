import manifest from '../package.json' with { type: 'json' }

/** Of this program: `0.1.0`. How it is numbered: infra/docs/changelog.md, "Numbers". */
export const { version } = manifest
