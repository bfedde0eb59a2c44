import { isUtf8 } from 'node:buffer'
import { FileFault } from './file-fault.ts'

export type Utf8Decoder = {
  /**
   * Decodes the bytes up to the first that is not UTF-8. A character that is cut off at the end is returned
   * with the next block.
   */
  decode(bytes: Uint8Array): string
  /** Returns true once invalid UTF-8 was found. At the end of the file, half a character is invalid too. */
  isBroken(atEnd: boolean): boolean
  /** Returns the number of bytes that were decoded. */
  bytes(): number
}

export function createUtf8Decoder(): Utf8Decoder {
  let carried: Buffer = Buffer.alloc(0)
  let total = 0
  let broken = false
  return {
    decode(bytes) {
      if (broken) return ''
      const block =
        carried.length === 0
          ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
          : Buffer.concat([carried, bytes])
      let whole = wholeCharacters(block)
      if (!isUtf8(block.subarray(0, whole))) {
        broken = true
        whole = validStart(block)
      }
      carried = Buffer.from(block.subarray(whole))
      total += whole
      return block.toString('utf8', 0, whole)
    },
    isBroken: (atEnd) => broken || (atEnd && carried.length > 0),
    bytes: () => total,
  }
}

/** Returns the length of the block without an incomplete character at its end. */
function wholeCharacters(block: Buffer): number {
  for (let back = 1; back <= Math.min(3, block.length); back++) {
    const byte = block[block.length - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? block.length - back : block.length
  }
  return block.length
}

/** Returns the number of bytes that are valid UTF-8. Finds them by bisection. */
function validStart(block: Buffer): number {
  let [good, bad] = [0, block.length]
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    if (isUtf8(block.subarray(0, wholeCharacters(block.subarray(0, middle))))) good = middle
    else bad = middle
  }
  return wholeCharacters(block.subarray(0, good))
}

const SAVE_AS = 'save the file as UTF-8 and put it again'

export const notUtf8 = (line: number): FileFault =>
  new FileFault(`Line ${line} holds bytes that are not UTF-8; ${SAVE_AS}`)

/** The number of bytes needed to recognise the type of a file and the separator that it declares. */
const START = 16

/** Passes the bytes on, but makes the first block long enough to recognise the type of the file. */
export async function* withWholeStart(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let start: Uint8Array | null = new Uint8Array()
  for await (const bytes of blocks) {
    if (start !== null) start = Buffer.concat([start, bytes])
    if (start !== null && start.length < START) continue
    yield start ?? bytes
    start = null
  }
  if (start !== null) yield start
}

/** Throws if the first bytes show another encoding or file format. */
export function refuseForeignStart(start: Uint8Array): void {
  const [a, b, c, d] = start
  if (a === 0x50 && b === 0x4b && c === 0x03 && d === 0x04) {
    throw new FileFault(
      'The file is a zip archive or XLSX workbook, not CSV; put it again under its own extension',
    )
  }
  if (a === 0xd0 && b === 0xcf && c === 0x11 && d === 0xe0) {
    throw new FileFault(
      'The file is an old Excel workbook (.xls) or one with a password, not CSV; save it as .xlsx without a password and put it again',
    )
  }
  const utf32 =
    (a === 0xff && b === 0xfe && c === 0 && d === 0) || (a === 0 && b === 0 && c === 0xfe && d === 0xff)
  if (utf32) throw new FileFault(`Line 1: the file is encoded as UTF-32, not UTF-8; ${SAVE_AS}`)
  const marked = (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)
  const bare = (b === 0 && d === 0 && a && c) || (a === 0 && c === 0 && b && d)
  if (marked || bare) throw new FileFault(`Line 1: the file is encoded as UTF-16, not UTF-8; ${SAVE_AS}`)
}
