import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { hasText } from '../../../lib/search.ts'
import { type CountryCode, countryOf, countryOfDomain, countryOfLanguage } from './countries.ts'
import { clean } from './document.ts'
import type { Extraction } from './extraction.ts'
import { guessIndustry } from './industries.ts'
import { textOfProperty, textsOf, type Thing, typesOf } from './json-ld.ts'
import { businessKind, findOrganisation, imageOf } from './organisation.ts'
import { addressOf, looseAddress } from './postal-address.ts'

export type Evidence = { field: string; value: string; source: string; url: string }

export type CompanyProfile = {
  name: string | null
  description: string | null
  logo: string | null
  address: string | null
  country: string | null
  phones: string[]
  emails: string[]
  social_links: string[]
  founded: number | null
  industry_hint: string | null
  evidence: Evidence[]
}

type Finding<Value> = { value: Value; source: string; url: string }
type Look<Value> = (page: Extraction) => { value: Value; source: string } | null

/**
 * Builds a profile from the pages of a company. The first page is its home page. Every value names the page that it comes
 * from.
 */
export function profileCompany(pages: readonly Extraction[], host: string): CompanyProfile {
  const { evidence, first, list } = createCollector(pages)
  const { organisation, property, labelledOf } = createLooks(host)

  const name = first('name', [
    property('name', 'legalName'),
    siteName,
    meta('og:site_name', 'application-name'),
    titleName(host),
  ])
  const description = first('description', [
    property('description'),
    meta('description', 'og:description', 'twitter:description'),
  ])
  const logo = first('logo', [
    (page) => labelled(imageOf(organisation(page)?.['logo'], new URL(page.url)), 'structured data'),
    ({ logo: shown }) => shown,
  ])
  const address = first(
    'address',
    [
      labelledOf(addressOf),
      (page) => labelled(looseAddress(page.things), 'structured data'),
      (page) => labelled(page.address, 'text'),
    ],
    (found) => found.text,
  )
  const phones = list('phones', (page) => page.phones, 20)
  const emails = list('emails', (page) => page.emails, 50)
  const country = first<CountryCode>('country', [
    () => labelled(address?.country ?? null, 'address'),
    labelledOf((found) => countryOf(textOfProperty(found, 'addressCountry') ?? '')),
    () => labelled(countryOfDomain(host), 'domain'),
    () => labelled(parsePhoneNumberFromString(phones[0] ?? '')?.country ?? null, 'phone number'),
    (page) => labelled(countryOfLanguage(page.language), 'language'),
  ])
  return {
    name,
    description,
    logo,
    address: address?.text ?? null,
    country,
    phones,
    emails,
    social_links: list('social_links', (page) => page.socialLinks, 30),
    founded: first('founded', [(page) => yearIn(property('foundingDate')(page)), foundedInText]),
    industry_hint: first('industry_hint', [
      labelledOf(businessKind),
      property('industry'),
      ({ title, description: said, text: body }) => labelled(guessIndustry([title, said, body]), 'words'),
    ]),
    evidence,
  }
}

/** Collects values from pages, with the evidence for each. */
function createCollector(pages: readonly Extraction[]) {
  const evidence: Evidence[] = []
  const first = <Value>(
    field: string,
    looks: Look<Value>[],
    show: (value: Value) => string = String,
  ): Value | null => {
    const finding = findFirst(pages, looks)
    if (finding === null) return null
    const { value, source, url } = finding
    evidence.push({ field, value: show(value).slice(0, 300), source, url })
    return value
  }
  const list = (field: string, pick: (page: Extraction) => string[], max: number): string[] => {
    const found = new Map<string, string>()
    const all = pages.flatMap((page) => pick(page).map((value) => ({ value, url: page.url })))
    for (const { value, url } of all) if (!found.has(value)) found.set(value, url)
    const kept = [...found].slice(0, max)
    evidence.push(...kept.map(([value, url]) => ({ field, value, source: 'page', url })))
    return kept.map(([value]) => value)
  }
  return { evidence, first, list }
}

/** Creates the looks into the structured data about the organisation of a host. */
function createLooks(host: string) {
  const organisation = (page: Extraction) => findOrganisation(page.things, host)
  const property =
    (...names: string[]): Look<string> =>
    (page) => {
      const thing = organisation(page)
      const value = thing === null ? undefined : names.flatMap((name) => textsOf(thing[name]))[0]
      return value === undefined ? null : labelled(clean(value), 'structured data')
    }
  const labelledOf =
    <Value>(read: (thing: Thing) => Value | null): Look<Value> =>
    (page) =>
      labelled(read(organisation(page) ?? {}), 'structured data')
  return { organisation, property, labelledOf }
}

function meta(...names: (keyof Extraction['metas'])[]): Look<string> {
  return ({ metas }) => {
    const name = names.find((one) => metas[one] !== undefined)
    return name === undefined ? null : labelled(metas[name] ?? null, `meta ${name}`)
  }
}

/** Returns the first finding. A better kind of source on any page takes precedence over a worse one on the first page. */
function findFirst<Value>(
  pages: readonly Extraction[],
  looks: readonly Look<Value>[],
): Finding<Value> | null {
  for (const look of looks) {
    for (const page of pages) {
      const found = look(page)
      if (found !== null) return { ...found, url: page.url }
    }
  }
  return null
}

function labelled<Value>(value: Value | null, source: string): { value: Value; source: string } | null {
  return value === null ? null : { value, source }
}

const siteName: Look<string> = (page) => {
  const site = page.things.find((thing) => typesOf(thing).includes('WebSite'))
  return labelled(site === undefined ? null : textOfProperty(site, 'name'), 'structured data')
}

/** Finds the company's name in the title: the part that resembles the domain, else the last short part. */
function titleName(host: string): Look<string> {
  const label =
    host
      .replace(/^www\./, '')
      .split('.')[0]
      ?.replace(/[^\p{L}\d]/gu, '') ?? ''
  return ({ title }) => {
    const parts = (title ?? '').split(/\s+[|–—·•:»-]+\s+|\s*[|»]\s*/).filter((part) => part !== '')
    const squeeze = (part: string) => part.toLowerCase().replace(/[^\p{L}\d]/gu, '')
    const like = parts.find((part) => label.length > 2 && hasText(squeeze(part), label) && part.length < 60)
    const last = parts.length > 1 ? parts.findLast((part) => part.length < 40) : parts[0]
    return labelled(clean(like ?? last ?? '', 100), 'title')
  }
}

function yearIn(said: { value: string; source: string } | null): { value: number; source: string } | null {
  const year = /\b(1[5-9]\d\d|20\d\d)\b/.exec(said?.value ?? '')?.[1]
  return said === null || year === undefined ? null : { value: Number(year), source: said.source }
}

const FOUNDED =
  /\b(?:founded|established|est\.|since|in business since|gegründet|seit|fondée?|depuis|fundada|desde|fondata|dal|основана|創業)\s*(?:im jahre?|in the year|in|en|nel|:|im|back in)?\s*(1[5-9]\d\d|20\d\d)\b/iu

/** Finds the year of "Founded in 1998". "Since" counts too, because companies write it about themselves. */
const foundedInText: Look<number> = ({ text }) => {
  const year = FOUNDED.exec(text.slice(0, 100_000))?.[1]
  return labelled(year === undefined ? null : Number(year), 'text')
}
