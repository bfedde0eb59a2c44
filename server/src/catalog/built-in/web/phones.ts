import { findPhoneNumbersInText, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import type { CountryCode } from './countries.ts'
import type { Elements } from './tree.ts'

const MAX_PHONES = 50
const MAX_TEXT = 100_000

/**
 * Finds the phone numbers on a page in E.164: first in links, then in its text. National numbers are read as numbers of
 * `country`.
 */
export function findPhones(elements: Elements, text: string, country: CountryCode | null): string[] {
  const linked = elements
    .named('a')
    .map(({ attribs }) => attribs?.['href'] ?? '')
    .filter((href) => /^(tel|callto):/i.test(href))
  return uniquePhones([...linked, ...phonesInText(text, country)], country)
}

/**
 * Reads numbers that a page marks as phone numbers. A number is kept if it can exist. If the country is unknown, its
 * digits are kept unchanged.
 */
export function uniquePhones(found: readonly string[], country: CountryCode | null): string[] {
  const numbers = found.flatMap((text) => {
    const number = readNumber(text, country)
    return number === null ? [] : [number]
  })
  return [...new Set(numbers)].slice(0, MAX_PHONES)
}

function readNumber(text: string, country: CountryCode | null): string | null {
  const bare = text
    .replace(/^(tel|callto):/i, '')
    .replace(/;.*$/s, '')
    .replaceAll('%20', ' ')
    .replace(/^\/+/, '')
  const international = bare.replace(/^\s*00(?=[1-9])/, '+').replace(/\(0\)/, '')
  const parsed = parsePhoneNumberFromString(international, country ?? undefined)
  if (parsed?.isPossible() === true) return parsed.number
  const digits = bare.replace(/[\s().\-/]/g, '')
  return country === null && /^\d{6,15}$/.test(digits) ? digits : null
}

function phonesInText(text: string, country: CountryCode | null): string[] {
  const short = text.slice(0, MAX_TEXT)
  const international = [...short.matchAll(/\+\d[\d\s().\-/\u00a0\u2010-\u2015]{6,22}\d/g)].map(([number]) =>
    number.replace(/\s*\n[\s\S]*$/, ''),
  )
  const national = country === null ? [] : findPhoneNumbersInText(short, country)
  return [...international, ...national.map(({ number }) => number.number)]
}
