import { type CountryCode, countryOf, countryOfDomain, countryOfLanguage } from './countries.ts'
import { type WebDocument, visibleText } from './document.ts'
import { findEmails, uniqueEmails } from './emails.ts'
import { listThings, readJsonLd, textsOf, type Thing } from './json-ld.ts'
import { readMicrodata } from './microdata.ts'
import { findPhones, uniquePhones } from './phones.ts'
import { findSocialLinks } from './social-links.ts'

/** What a page says about things and how to reach people, before anybody chooses from it. */
export type Extraction = {
  document: WebDocument
  text: string
  jsonLd: unknown[]
  things: Thing[]
  emails: string[]
  phones: string[]
  socialLinks: string[]
}

/** `country` is the one that national phone numbers are of, where the caller knows it. */
export function extract(document: WebDocument, country: CountryCode | null = null): Extraction {
  const { $, url } = document
  const text = visibleText($)
  const jsonLd = readJsonLd($)
  const things = [...listThings(jsonLd), ...listThings(readMicrodata($, url))]
  const home = country ?? guessCountry(document, things)
  const said = (name: string) => things.flatMap((thing) => textsOf(thing[name]))
  return {
    document,
    text,
    jsonLd,
    things,
    emails: uniqueEmails([
      ...findEmails($, text),
      ...said('email').map((mail) => mail.replace(/^mailto:/i, '')),
    ]),
    phones: [
      ...new Set([
        ...findPhones($, text, home),
        ...uniquePhones([...said('telephone'), ...said('phone')], home),
      ]),
    ],
    socialLinks: findSocialLinks([...document.links.map((link) => link.url.href), ...said('sameAs')]),
  }
}

/** The country of a site, as its address, its domain or its language say. */
export function guessCountry(document: WebDocument, things: readonly Thing[]): CountryCode | null {
  const said = things.flatMap((thing) => textsOf(thing['addressCountry']))
  for (const text of said) {
    const country = countryOf(text)
    if (country !== null) return country
  }
  return countryOfDomain(document.url.hostname) ?? countryOfLanguage(document.language)
}
