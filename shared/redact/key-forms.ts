/**
 * Keys that their vendors mark, so that scanners find them: the prefix and what follows, as the vendors' documentation and
 * their partners' lists for secret scanning have them. In any case of letters: SQL has UPPER and LOWER.
 */
const word = String.raw`[\w-]{20,}`

const forms: [vendor: string, prefix: string, rest: string][] = [
  ['this service', 'lqe_', word],
  ['AWS', 'A(?:BIA|CCA|KIA|SIA)', '[A-Z2-7]{16}(?![A-Za-z0-9])'],
  ['AWS Bedrock', '(?:ABSK|bedrock-api-key-)', '[A-Za-z0-9+/]{40,}={0,2}'],
  ['Anthropic, OpenAI, OpenRouter', 'sk-(?:ant|proj|svcacct|admin|None|or)-', word],
  ['OpenAI', 'sk-', '[A-Za-z0-9]{40,}'],
  ['DigitalOcean', 'do[oprt]_v1_', '[0-9a-f]{40,}'],
  ['Docker', 'dckr_[op]at_', word],
  ['GitHub', 'gh[opsru]_', word],
  ['GitHub', 'github_pat_', word],
  ['GitLab', 'gl(?:pat|ptt|dt|rtr?|cbt|ft|ffct|soat|agent|imt|oas|wt)-', String.raw`[\w.-]{20,}`],
  ['Google', 'AIza', String.raw`[\w-]{35}`],
  ['Google', 'GOCSPX-', word],
  ['Google', String.raw`ya29\.`, String.raw`[\w.-]{20,}`],
  ['Grafana', 'gl(?:sa|c)_', word],
  ['HashiCorp Vault', String.raw`hv[brs]\.`, word],
  ['Hugging Face', '(?:hf|api_org)_', '[A-Za-z0-9]{30,}'],
  ['npm', 'npm_', '[A-Za-z0-9]{30,}'],
  ['PyPI', 'pypi-AgE', word],
  ['SendGrid', String.raw`SG\.`, String.raw`[\w-]{16,}\.[\w-]{16,}`],
  ['Shopify', 'shp(?:at|ca|pa|rt|ss|ua)_', '[0-9a-f]{32,}'],
  ['Slack', 'xox[abceoprs]-', word],
  ['Slack', 'xoxd-', String.raw`[\w+/%-]{20,}={0,2}`],
  ['Slack', 'xapp-', word],
  ['Stripe', '[rs]k_(?:live|test|org)_', word],
  ['Stripe', 'whsec_', '[A-Za-z0-9+/_-]{20,}={0,2}'],
  ['Supabase', 'sb_secret_', word],
  ['Supabase', 'sbp_', word],
]

/** The source of a pattern for the prefix of a key. */
export const keyPrefix = `(?:${forms.map(([, prefix]) => prefix).join('|')})`

/** The source of a pattern for a whole key. */
export const keyForm = `(?:${forms.map(([, prefix, rest]) => prefix + rest).join('|')})`

/** Of Google's refresh tokens; they begin with a digit, of which logs are full, and so are looked for apart. */
export const refreshPrefix = '1//0'
