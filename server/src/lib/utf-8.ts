import { pause } from './timing/turns.ts'

const FIRST = new TextDecoder()
/** Keeps a byte order mark, which is a character like any other after the beginning of a text. */
const FURTHER = new TextDecoder('utf-8', { ignoreBOM: true })
/** The number of bytes that are decoded at once. */
const PIECE = 256 * 1024
/** The number of bytes of a character after its first. */
const MAX_CONTINUED = 3

/** Decodes UTF-8 of any length in turns with other work. Invalid bytes become U+FFFD. */
export async function decodeInTurns(bytes: Uint8Array): Promise<string> {
  if (bytes.length <= PIECE) return FIRST.decode(bytes)
  const parts: string[] = []
  for (let from = 0; from < bytes.length;) {
    await pause()
    const to = boundaryBefore(bytes, from + PIECE)
    parts.push((from === 0 ? FIRST : FURTHER).decode(bytes.subarray(from, to)))
    from = to
  }
  return parts.join('')
}

/** Returns the last position up to this one that is not inside a character. */
function boundaryBefore(bytes: Uint8Array, at: number): number {
  for (let to = at; to >= at - MAX_CONTINUED; to -= 1) if (((bytes[to] ?? 0) & 0xc0) !== 0x80) return to
  // No character is this long: the bytes before this position are invalid or end here.
  return at
}
