/** Encodes a name or value as URLSearchParams does, without creating one for every call. */
export function encodeForm(text: string): string {
  if (PLAIN.test(text)) return text
  return encodeURIComponent(text.toWellFormed()).replace(/%20|[!'()~]/g, spell)
}

const PLAIN = /^[\w.*-]*$/

const spell = (found: string): string =>
  found === '%20' ? '+' : `%${found.charCodeAt(0).toString(16).toUpperCase()}`
