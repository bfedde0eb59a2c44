import { pause } from '../../../lib/timing/turns.ts'

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
/** The number of bytes that are decoded at once. */
const PIECE = 128 * 1024
const WESTERN: ReadonlySet<string> = new Set(['windows-1252', 'utf-8'])

/**
 * Decodes the text of a page or feed in turns with other work. The encoding comes from the byte order mark, the header or
 * the declaration in the text, else from a guess that fits the bytes.
 */
export async function decodeText(
  bytes: Uint8Array,
  contentType = '',
): Promise<{ text: string; charset: string }> {
  const marked = BOMS.find(([, bom]) => bom.every((byte, at) => bytes[at] === byte))?.[0]
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, PRESCAN))
  const declared =
    marked ?? encodingOf(/charset\s*=\s*["']?([^\s"';,]+)/i.exec(contentType)?.[1]) ?? declaredIn(head)
  // Servers declare Latin-1 by default. Bytes beyond ASCII that are valid UTF-8 are hardly anything else.
  if (declared === undefined || WESTERN.has(declared)) {
    const text = await tryDecode(bytes, 'utf-8')
    if (text !== null) return { text, charset: 'utf-8' }
  }
  const charset = declared ?? (await guessByLanguage(bytes, head)) ?? 'windows-1252'
  return { text: await decodeWith(new TextDecoder(charset), bytes), charset }
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

async function guessByLanguage(bytes: Uint8Array, head: string): Promise<string | undefined> {
  const language = /<html[^>]{1,300}?lang\s*=\s*["']?([a-z]{2})/i.exec(head)?.[1]?.toLowerCase() ?? ''
  for (const charset of BY_LANGUAGE[language] ?? [])
    if ((await tryDecode(bytes, charset)) !== null) return charset
  return undefined
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

async function tryDecode(bytes: Uint8Array, charset: string): Promise<string | null> {
  try {
    return await decodeWith(new TextDecoder(charset, { fatal: true }), bytes)
  } catch (cause) {
    if (cause instanceof TypeError) return null
    throw cause
  }
}

async function decodeWith(decoder: InstanceType<typeof TextDecoder>, bytes: Uint8Array): Promise<string> {
  if (bytes.length <= PIECE) return decoder.decode(bytes)
  const parts: string[] = []
  for (let from = 0; from < bytes.length; from += PIECE) {
    await pause()
    parts.push(decoder.decode(bytes.subarray(from, from + PIECE), { stream: true }))
  }
  return `${parts.join('')}${decoder.decode()}`
}
