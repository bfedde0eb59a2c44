const BOMS: [string, number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]
// The encodings that pages in these languages used before UTF-8, for pages that declare none.
const BY_LANGUAGE: Record<string, string[]> = {
  ja: ['shift_jis', 'euc-jp'],
  zh: ['gb18030', 'big5'],
  ko: ['euc-kr'],
  ru: ['windows-1251', 'koi8-r'],
  uk: ['windows-1251'],
  bg: ['windows-1251'],
  el: ['windows-1253'],
  tr: ['windows-1254'],
  he: ['windows-1255'],
  ar: ['windows-1256'],
  pl: ['iso-8859-2'],
  cs: ['windows-1250'],
  hu: ['iso-8859-2'],
  sk: ['windows-1250'],
}
const PRESCAN = 4096
const WESTERN: ReadonlySet<string> = new Set(['windows-1252', 'utf-8'])

/**
 * Decodes the text of a page or feed. The encoding comes from the byte order mark, the header or the declaration in the
 * text, else from a guess that fits the bytes.
 */
export function decodeText(bytes: Uint8Array, contentType = ''): { text: string; charset: string } {
  const marked = BOMS.find(([, bom]) => bom.every((byte, at) => bytes[at] === byte))?.[0]
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, PRESCAN))
  const declared =
    marked ?? encodingOf(/charset\s*=\s*["']?([^\s"';,]+)/i.exec(contentType)?.[1]) ?? declaredIn(head)
  // Servers declare Latin-1 by default. Bytes beyond ASCII that are valid UTF-8 are hardly anything else.
  if (declared === undefined || WESTERN.has(declared)) {
    const text = tryDecode(bytes, 'utf-8')
    if (text !== null) return { text, charset: 'utf-8' }
  }
  const charset = declared ?? guessByLanguage(bytes, head) ?? 'windows-1252'
  return { text: new TextDecoder(charset).decode(bytes), charset }
}

/**
 * Returns the encoding that a text declares. As HTML requires, UTF-16 is read as UTF-8: a page whose ASCII can be read
 * cannot be UTF-16.
 */
function declaredIn(head: string): string | undefined {
  const label =
    /<meta[^>]{1,300}?charset\s*=\s*["']?\s*([^\s"'/>;]+)/i.exec(head)?.[1] ??
    /^\s*<\?xml[^>]{1,200}?encoding\s*=\s*["']([^"']+)/i.exec(head)?.[1]
  const encoding = encodingOf(label)
  return encoding?.startsWith('utf-16') ? 'utf-8' : encoding
}

function guessByLanguage(bytes: Uint8Array, head: string): string | undefined {
  const language = /<html[^>]{1,300}?lang\s*=\s*["']?([a-z]{2})/i.exec(head)?.[1]?.toLowerCase() ?? ''
  return BY_LANGUAGE[language]?.find((charset) => tryDecode(bytes, charset) !== null)
}

function encodingOf(label: string | undefined): string | undefined {
  if (label === undefined) return undefined
  try {
    return new TextDecoder(label).encoding
  } catch (cause) {
    // An unknown encoding counts as none.
    if (cause instanceof RangeError) return undefined
    throw cause
  }
}

function tryDecode(bytes: Uint8Array, charset: string): string | null {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes)
  } catch (cause) {
    if (cause instanceof TypeError) return null
    throw cause
  }
}
