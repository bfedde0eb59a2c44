import { type CountryCode, getCountries, isSupportedCountry } from 'libphonenumber-js/max'

const names = new Intl.DisplayNames(['en'], { type: 'region' })
const codes: ReadonlySet<string> = new Set<string>(getCountries())

/** The countries by their names: in English, and in their own language for common ones. Case makes no difference. */
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

/** Returns the ISO code of a country that is given by its code or name, or null if the text is neither. */
export function countryOf(text: string): CountryCode | null {
  const bare = text.trim()
  const code = bare.toUpperCase()
  if (isSupportedCountry(code)) return code
  return byName.get(bare.toLowerCase()) ?? null
}

// Anybody can buy domains under these country codes, so they do not indicate a country.
const GENERIC: ReadonlySet<string> = new Set(
  'io co ai me tv cc ws fm ly to gg la sh so vc ac im is'.split(' '),
)

export function countryOfDomain(host: string): CountryCode | null {
  const tld = host.split('.').at(-1) ?? ''
  if (tld === 'uk') return 'GB'
  return GENERIC.has(tld) || tld.length !== 2 || !codes.has(tld.toUpperCase()) ? null : countryOf(tld)
}

/** Returns the country of a language tag: `de-AT` belongs to Austria. A language without a region has no country. */
export function countryOfLanguage(language: string | null): CountryCode | null {
  const region = /^[a-z]{2,3}[-_]([a-z]{2})\b/i.exec(language ?? '')?.[1]
  return region === undefined ? null : countryOf(region)
}

export type { CountryCode }
