/** A column of a sheet, with the token that stands for it and the beginnings of some of its values. */
export type SampledColumn = { name: string; type: string; token: string; samples: readonly string[] }

/** The kinds of values that columns hold. */
export const COLUMN_KINDS = [
  'email',
  'company_page',
  'profile',
  'website',
  'page',
  'domain',
  'phone',
  'json_list',
  'first_name',
  'last_name',
  'company',
  'full_name',
  'long_text',
] as const
export type ColumnKind = (typeof COLUMN_KINDS)[number]

/** The part of the values that must be of a kind: real lists have a few others among them. */
const MOST = 0.6
const LONG_TEXT = 200

const URL_START = /^(?:https?:\/\/|www\.)/i
const HOST = /^(?:[\p{L}\d-]+\.)+\p{L}{2,}$/u
const PERSON = /^\p{L}[\p{L}.'’-]*,?(?:\s+[\p{L}.'’-]+){1,4}$/u
const COMPANY_END = /\b(?:inc|llc|ltd|limited|gmbh|ag|corp|corporation|company|co|group|labs|sa|bv)\.?$/i

/** The names of columns that say what they hold. */
const NAMES: Readonly<Partial<Record<ColumnKind, RegExp>>> = {
  email: /\be ?mail/,
  company_page: /\bcompany linkedin\b|\blinkedin company\b/,
  profile: /\blinkedin\b|\bprofile\b/,
  website: /\b(?:website|homepage|url|site|web)\b/,
  domain: /\bdomain\b/,
  phone: /\b(?:phone|mobile|tel|telephone|cell)\b/,
  first_name: /^(?:first|given) ?name$|^first$/,
  last_name: /^(?:last|family) ?name$|^surname$|^last$/,
  company: /\b(?:company|organisation|organization|employer|account|firm|business)\b/,
  full_name: /^(?:full ?name|name|person|contact|contact name|lead|lead name)$/,
}

/** Returns true if a value is of a kind. Kinds without a test are known by the name of their column only. */
const VALUES: Readonly<Partial<Record<ColumnKind, (text: string) => boolean>>> = {
  email: (text) => /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(text),
  profile: (text) => /^(?:https?:\/\/)?(?:\w+\.)?linkedin\.com\/(?:in|pub)\//i.test(text),
  company_page: (text) => /^(?:https?:\/\/)?(?:\w+\.)?linkedin\.com\/(?:company|school)\//i.test(text),
  website: (text) => isAddress(text) && !hasPath(text),
  page: (text) => isAddress(text) && hasPath(text),
  domain: (text) => HOST.test(text),
  phone: (text) => /^\+[\d\s()./-]{7,}$|^\([\d\s]+\)[\d\s./-]{4,}$/.test(text),
  json_list: (text) => /^\[\s*[{["\d]/.test(text),
  full_name: (text) => PERSON.test(text) && !COMPANY_END.test(text),
  long_text: (text) => text.length >= LONG_TEXT,
}

/** Kinds that values alone do not show: "Acme Corp" looks like the name of a person. */
const NEED_NAME: ReadonlySet<ColumnKind> = new Set(['first_name', 'last_name', 'company', 'full_name'])

/** Returns what a column holds, by its values if it has any, otherwise by its type and its name. */
export function kindOf(column: SampledColumn): ColumnKind | null {
  const samples = column.samples.map((sample) => sample.trim()).filter((sample) => sample !== '')
  const named = COLUMN_KINDS.filter((kind) => NAMES[kind]?.test(wordsOf(column.name)) === true)
  if (samples.length === 0) return kindOfEmpty(column, named)
  const kind = COLUMN_KINDS.find((each) => fits(each, samples, named))
  return kind ?? (named.includes('website') && holdsAddresses(samples) ? 'website' : null)
}

/** Returns true if most values lead to a website, in whatever form people typed them. */
const holdsAddresses = (samples: readonly string[]): boolean =>
  samples.filter((text) => isAddress(text) || HOST.test(text)).length >= samples.length * MOST

function fits(kind: ColumnKind, samples: readonly string[], named: readonly ColumnKind[]): boolean {
  if (NEED_NAME.has(kind) && !named.includes(kind)) return false
  const test = VALUES[kind] ?? ((text: string) => !isAddress(text) && !HOST.test(text))
  // A number without a country code is a phone number only where the column says so.
  const isOfKind = (text: string) =>
    test(text) || (kind === 'phone' && named.includes('phone') && /^[\d\s()./-]{6,}$/.test(text))
  return samples.filter(isOfKind).length >= samples.length * MOST
}

function kindOfEmpty({ type }: SampledColumn, named: readonly ColumnKind[]): ColumnKind | null {
  const [first] = named
  if (type === 'email') return 'email'
  if (type === 'url') return first === 'profile' || first === 'company_page' ? first : 'website'
  return type === 'string' && first !== undefined ? first : null
}

/** Returns the words of a column's name: `companyWebsite` and `company_website` are "company website". */
function wordsOf(name: string): string {
  return name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replace(/[^\p{L}\d]+/gu, ' ')
    .trim()
}

function isAddress(text: string): boolean {
  return (
    !/\s/.test(text) && (URL_START.test(text) || (HOST.test(text.split('/')[0] ?? '') && text.includes('/')))
  )
}

function hasPath(text: string): boolean {
  const [, ...path] = text.replace(/^https?:\/\//i, '').split(/[/?#]/)
  return path.some((part) => part !== '')
}
