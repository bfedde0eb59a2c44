import { trimEnd } from '../../../lib/plain-text.ts'
import type { Elements } from './tree.ts'

const MAX_EMAILS = 100
const LOCAL = /[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}){0,8}/.source
const DOMAIN =
  /(?:[a-z0-9\u00a1-\uffff](?:[a-z0-9\u00a1-\uffff-]{0,61}[a-z0-9\u00a1-\uffff])?\.){1,8}[a-z\u00a1-\uffff][a-z0-9\u00a1-\uffff-]{1,62}/
    .source
const WHOLE = new RegExp(`^${LOCAL}@${DOMAIN}$`, 'i')
// The lookbehind prevents a new attempt at each letter of a long word.
const IN_TEXT = new RegExp(`(?<![a-z0-9._%+-])[a-z0-9_][a-z0-9._%+'-]{0,63}@${DOMAIN}`, 'gi')
const HIDDEN =
  /([a-z0-9_][a-z0-9._+-]{0,63})\s?[[({<]\s?(?:at|ät|@|arroba)\s?[\])}>]\s?([a-z0-9-]{1,63}(?:\s?(?:\.|[[({<]\s?(?:dot|punkt|punto|\.)\s?[\])}>])\s?[a-z0-9-]{1,63}){1,4})/gi
/** Matches the sign of an obfuscated address, which few pages have. */
const HIDDEN_SIGN = /[[({<]\s?(?:at|ät|@|arroba)\s?[\])}>]/i
const DOT = /\s?(?:\.|[[({<]\s?(?:dot|punkt|punto|\.)\s?[\])}>])\s?/gi
const FILES =
  /\.(png|jpe?g|gif|svg|webp|avif|ico|bmp|tiff?|css|m?js|json|html?|php|pdf|woff2?|ttf|mp[34]|webm|map)$/i
const PLACEHOLDERS =
  /@(domain|yourdomain|email|yourcompany|mysite|yoursite)\.com$|@sentry(\.\w+)?\.io$|\.wixpress\.com$/i

/**
 * Finds the email addresses on a page: first in links, then in its text, including those that are obfuscated against
 * simple programs.
 */
export function findEmails(elements: Elements, text: string): string[] {
  const addresses = elements
    .named('a', 'area')
    .map(({ name, attribs }) => ({ name, href: attribs?.['href'] ?? '' }))
  const linked = addresses
    .filter(({ href }) => /^mailto:/i.test(href))
    .flatMap(({ href }) => mailtoAddresses(href))
  const guarded = [
    ...elements.all.flatMap(({ attribs }) => attribs?.['data-cfemail'] ?? []),
    ...addresses
      .filter(({ name, href }) => name === 'a' && href.includes('/cdn-cgi/l/email-protection#'))
      .map(({ href }) => href.split('#')[1] ?? ''),
  ].map(decodeCloudflare)
  return uniqueEmails([...linked, ...guarded, ...emailsInText(text)])
}

function emailsInText(text: string): string[] {
  // The patterns below try every word of a page, so it is searched for the sign of an address first.
  const plain = text.includes('@') ? [...text.matchAll(IN_TEXT)].map(([address]) => address) : []
  if (!HIDDEN_SIGN.test(text)) return plain
  const hidden = [...text.matchAll(HIDDEN)].map(
    ([, local = '', domain = '']) => `${local}@${domain.replace(DOT, '.')}`,
  )
  return [...plain, ...hidden]
}

/** Returns each address once, in lower case, without file names and placeholders that only look like addresses. */
export function uniqueEmails(found: readonly string[]): string[] {
  const addresses = found
    .map((address) => trimEnd(address.trim().toLowerCase(), '.'))
    .filter((address) => WHOLE.test(address) && !FILES.test(address) && !PLACEHOLDERS.test(address))
  return [...new Set(addresses)].slice(0, MAX_EMAILS)
}

function mailtoAddresses(href: string): string[] {
  const [, list = ''] = /^mailto:([^?]*)/i.exec(href.trim()) ?? []
  return list.split(/[,;]/).map((part) => {
    const plain = decodePercent(part)
    return /<([^<>]+)>/.exec(plain)?.[1] ?? plain
  })
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    if (cause instanceof URIError) return text
    throw cause
  }
}

/** Decodes an address that Cloudflare protects: hexadecimal bytes, each combined with the first one by XOR. */
function decodeCloudflare(hex: string): string {
  if (!/^([0-9a-f]{2}){4,200}$/i.test(hex)) return ''
  const [key = 0, ...bytes] = Buffer.from(hex, 'hex')
  return Buffer.from(bytes.map((byte) => byte ^ key)).toString('utf8')
}
