const BOMS: [string, number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]
// What pages in these languages were written in before UTF-8, for those that do not say.
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

/** Text of a page or feed: by byte order mark, header, declaration in the text, then by what the bytes can be. */
export function decodeText(bytes: Uint8Array, contentType = ''): { text: string; charset: string } {
  const marked = BOMS.find(([, bom]) => bom.every((byte, at) => bytes[at] === byte))?.[0]
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, PRESCAN))
  const declared =
    marked ?? encodingOf(/charset\s*=\s*["']?([^\s"';,]+)/i.exec(contentType)?.[1]) ?? declaredIn(head)
  // Servers call everything Latin-1 by default; bytes that are valid UTF-8 beyond ASCII are hardly anything else.
  if (declared === undefined || WESTERN.has(declared)) {
    const text = tryDecode(bytes, 'utf-8')
    if (text !== null) return { text, charset: 'utf-8' }
  }
  const charset = declared ?? guessByLanguage(bytes, head) ?? 'windows-1252'
  return { text: new TextDecoder(charset).decode(bytes), charset }
}

/** HTML's rule: a page whose ASCII can be read cannot be UTF-16, whatever it says. */
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
    // No such encoding: as if nothing had been declared.
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
