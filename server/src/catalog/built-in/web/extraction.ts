import { serialize } from 'node:v8'
import { type CountryCode, countryOf, countryOfDomain, countryOfLanguage } from './countries.ts'
import { metaOf, type WebDocument, visibleText } from './document.ts'
import { findEmails, uniqueEmails } from './emails.ts'
import { listThings, readJsonLd, textsOf, type Thing } from './json-ld.ts'
import { findLogo, type Logo } from './logo.ts'
import { readMicrodata } from './microdata.ts'
import { findPhones, uniquePhones } from './phones.ts'
import { type PostalAddress, shownAddress } from './postal-address.ts'
import { findSocialLinks } from './social-links.ts'

/** The ways to reach those whom a page is about, and the structured data that may name more. */
export type Contacts = {
  jsonLd: unknown[]
  emails: string[]
  phones: string[]
  socialLinks: string[]
}

/** The data of a page about things and contacts, before any selection. */
export type Extraction = Contacts & {
  url: string
  title: string | null
  description: string | null
  language: string | null
  /** The country that the page itself indicates. */
  country: CountryCode | null
  /** The beginning of the visible text. */
  text: string
  metas: Partial<Record<(typeof METAS)[number], string>>
  address: PostalAddress | null
  logo: Logo | null
  things: Thing[]
}

const METAS = [
  'description',
  'og:description',
  'twitter:description',
  'og:site_name',
  'application-name',
] as const
const MAX_TEXT = 100_000
/** The most bytes of structured data. */
const MAX_DATA = 400_000

/** Extracts the data of a page. National phone numbers are read as numbers of `country`, if the caller knows it. */
export function extract(document: WebDocument, country: CountryCode | null = null): Extraction {
  const { elements, url } = document
  const { text, things, own, contacts } = gather(document, country)
  return {
    url: url.href,
    title: document.title,
    description: document.description,
    language: document.language,
    country: own,
    text: text.slice(0, MAX_TEXT),
    metas: Object.fromEntries(METAS.map((name) => [name, metaOf(elements, name) ?? undefined])),
    address: shownAddress(elements, text),
    logo: findLogo(document),
    things: withinSize(things),
    ...contacts,
  }
}

/** Extracts only the contacts of a page. */
export function extractContacts(document: WebDocument, country: CountryCode | null = null): Contacts {
  return gather(document, country).contacts
}

function gather(document: WebDocument, country: CountryCode | null) {
  const { root, elements, url } = document
  const text = visibleText(root)
  const jsonLd = readJsonLd(elements)
  const things = [...listThings(jsonLd), ...listThings(readMicrodata(elements, url))]
  const own = guessCountry(document, things)
  const home = country ?? own
  const valuesOf = (name: string) => things.flatMap((thing) => textsOf(thing[name]))
  const contacts: Contacts = {
    jsonLd: withinSize(jsonLd),
    emails: uniqueEmails([
      ...findEmails(elements, text),
      ...valuesOf('email').map((mail) => mail.replace(/^mailto:/i, '')),
    ]),
    phones: [
      ...new Set([
        ...findPhones(elements, text, home),
        ...uniquePhones([...valuesOf('telephone'), ...valuesOf('phone')], home),
      ]),
    ],
    socialLinks: findSocialLinks([...document.links.map((link) => link.url.href), ...valuesOf('sameAs')]),
  }
  return { text, things, own, contacts }
}

/** Returns the country of a site, from its address, its domain or its language. */
function guessCountry(document: WebDocument, things: readonly Thing[]): CountryCode | null {
  const countries = things.flatMap((thing) => textsOf(thing['addressCountry']))
  for (const text of countries) {
    const country = countryOf(text)
    if (country !== null) return country
  }
  return countryOfDomain(document.url.hostname) ?? countryOfLanguage(document.language)
}

/** Returns as many whole values as fit into MAX_DATA. */
function withinSize<Value>(values: Value[]): Value[] {
  let size = 0
  const tooMuch = values.findIndex((value) => {
    // Things may share parts, which `serialize` counts once.
    size += serialize(value).length
    return size > MAX_DATA
  })
  return tooMuch < 0 ? values : values.slice(0, tooMuch)
}
