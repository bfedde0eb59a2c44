import { type CountryCode, getCountries, isSupportedCountry } from 'libphonenumber-js/max'

const names = new Intl.DisplayNames(['en'], { type: 'region' })
const codes: ReadonlySet<string> = new Set<string>(getCountries())

/** Names of countries in English and in themselves where they are common, without regard to case. */
const byName = new Map<string, CountryCode>([
  ...getCountries().map((code): [string, CountryCode] => [names.of(code)?.toLowerCase() ?? '', code]),
  ['usa', 'US'],
  ['u.s.a.', 'US'],
  ['united states of america', 'US'],
  ['uk', 'GB'],
  ['great britain', 'GB'],
  ['england', 'GB'],
  ['scotland', 'GB'],
  ['deutschland', 'DE'],
  ['österreich', 'AT'],
  ['schweiz', 'CH'],
  ['suisse', 'CH'],
  ['españa', 'ES'],
  ['italia', 'IT'],
  ['nederland', 'NL'],
  ['the netherlands', 'NL'],
  ['holland', 'NL'],
  ['belgië', 'BE'],
  ['belgique', 'BE'],
  ['polska', 'PL'],
  ['česká republika', 'CZ'],
  ['czech republic', 'CZ'],
  ['sverige', 'SE'],
  ['norge', 'NO'],
  ['danmark', 'DK'],
  ['suomi', 'FI'],
  ['magyarország', 'HU'],
  ['türkiye', 'TR'],
  ['brasil', 'BR'],
  ['méxico', 'MX'],
  ['日本', 'JP'],
  ['中国', 'CN'],
  ['россия', 'RU'],
  ['україна', 'UA'],
  ['korea', 'KR'],
])

/** The ISO code of a country given by code or name; null when it is neither. */
export function countryOf(text: string): CountryCode | null {
  const bare = text.trim()
  const code = bare.toUpperCase()
  if (isSupportedCountry(code)) return code
  return byName.get(bare.toLowerCase()) ?? null
}

// Country domains that are sold to everybody tell nothing.
const GENERIC: ReadonlySet<string> = new Set(
  'io co ai me tv cc ws fm ly to gg la sh so vc ac im is'.split(' '),
)

export function countryOfDomain(host: string): CountryCode | null {
  const tld = host.split('.').at(-1) ?? ''
  if (tld === 'uk') return 'GB'
  return GENERIC.has(tld) || tld.length !== 2 || !codes.has(tld.toUpperCase()) ? null : countryOf(tld)
}

/** `de-AT` is of Austria; a language alone is of no country. */
export function countryOfLanguage(language: string | null): CountryCode | null {
  const region = /^[a-z]{2,3}[-_]([a-z]{2})\b/i.exec(language ?? '')?.[1]
  return region === undefined ? null : countryOf(region)
}

export type { CountryCode }
