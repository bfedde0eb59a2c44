import { isObject } from '../../../lib/json/object.ts'
import { type CountryCode, countryOf } from './countries.ts'
import { clean } from './document.ts'
import { textOfProperty, textsOf, type Thing, typesOf } from './json-ld.ts'
import { type Elements, textOf } from './tree.ts'

export type PostalAddress = { text: string; country: CountryCode | null }

/** Returns the address of a thing: a PostalAddress, a list of them, or a text. */
export function addressOf(thing: Thing): PostalAddress | null {
  const location: unknown = Array.isArray(thing['location']) ? thing['location'][0] : thing['location']
  const address = thing['address'] ?? (isObject(location) ? location['address'] : undefined)
  const first: unknown = Array.isArray(address) ? address[0] : address
  if (isObject(first)) return formatAddress(first)
  const text = clean(textsOf(first)[0] ?? '', 300)
  return text === null ? null : { text, country: countryAtEnd(text) }
}

/** Returns an address that stands alone among the things of a page. */
export function looseAddress(things: readonly Thing[]): PostalAddress | null {
  const found = things.find((thing) => typesOf(thing).includes('PostalAddress'))
  return found === undefined ? null : formatAddress(found)
}

function formatAddress(thing: Thing): PostalAddress | null {
  const part = (name: string) => textOfProperty(thing, name)
  const country = part('addressCountry')
  const place = [part('postalCode'), part('addressLocality')].filter((text) => text !== null).join(' ')
  const parts = [textsOf(thing['streetAddress']).join(', '), place, part('addressRegion'), country]
  const text = clean(parts.filter((text) => text !== null && text !== '').join(', '), 300)
  return text === null ? null : { text, country: country === null ? null : countryOf(country) }
}

/** The length of the text of an element that is read: the patterns below take the square of a run of blanks. */
const MAX_ADDRESS = 2000
const MAX_ADDRESSES = 100

/** Returns the address that a page shows: the `address` element, or lines that end in a postal code and a town. */
export function shownAddress(elements: Elements, text: string): PostalAddress | null {
  const found = markedAddress(elements) ?? addressLines(text)
  return found === null ? null : { text: found, country: countryAtEnd(found) }
}

function markedAddress(elements: Elements): string | null {
  for (const address of elements.named('address').slice(0, MAX_ADDRESSES)) {
    const text = textOf(address, MAX_ADDRESS, ', ', /^(br|p|div|li)$/)
    const line = clean(text.replace(/(\s*,\s*)+/g, ', ').replace(/^[\s,]+|[\s,]+$/g, ''), 300)
    if (line !== null && /\d/.test(line) && !line.includes('@') && line.length > 10) return line
  }
  return null
}

const STREET =
  /^(?=.{5,80}$)(?=.*\p{L}{3})[\p{L}\d][\p{L}\d .,'’/-]*\s\d{1,4}\s?[a-z]?$|^\d{1,5}\s(?=.*\p{L}{3})[\p{L}\d .,'’#-]{4,80}$/iu
const TOWN =
  /^(?:[A-Z]{1,2}[- ])?\d{4,6}\s\p{Lu}[\p{L} .'’()/-]{1,60}(?:,\s\p{L}[\p{L} ]{2,30})?$|^\p{Lu}[\p{L} .'’-]{1,60},\s[A-Z]{2}\s\d{5}(-\d{4})?(?:,?\s\p{L}[\p{L} ]{1,30})?$/u

function addressLines(text: string): string | null {
  const lines = text.split('\n').flatMap((line) => line.split(/\s[|•·]\s/))
  const joined = lines.map((line) => line.trim()).filter((line) => line.length <= 150)
  for (const [at, line] of joined.entries()) {
    const [street = '', ...town] = line.split(/,\s*(?=(?:[A-Z]{1,2}[- ])?\d{4,6}\s)/)
    if (town.length > 0 && STREET.test(street) && TOWN.test(town.join(', '))) return line
    const next = joined[at + 1] ?? ''
    if (STREET.test(line) && TOWN.test(next)) {
      const country = countryOf(joined[at + 2] ?? '') === null ? [] : [joined[at + 2]]
      return [line, next, ...country].join(', ')
    }
  }
  return null
}

function countryAtEnd(address: string): CountryCode | null {
  const last = address.split(',').at(-1)?.trim() ?? ''
  return last.length < 3 ? null : countryOf(last)
}
