import { invalid } from '../../lib/errors.ts'

/**
 * A part of an archive. An archive is a tar file that any tar program reads. Each part fits into memory: larger content is
 * several parts in a row, with numbered names (`tables/public.rows.000002`). The size of a part is known when it is written,
 * whatever the length of the whole.
 */
export type Part = { name: string; bytes: Buffer }

const BLOCK = 512
const PART_BYTES = 4 * 1024 * 1024
/** The largest part that is read: larger than any row of a table. Loam writes no larger part. */
const MAX_PART_BYTES = 1024 * 1024 * 1024
const NAME_BYTES = 100

export function* packPart({ name, bytes }: Part): Generator<Buffer> {
  yield createHeader(name, bytes.length)
  yield bytes
  const rest = bytes.length % BLOCK
  if (rest > 0) yield Buffer.alloc(BLOCK - rest)
}

/** Returns the end of a tar file: two empty blocks. */
export const packEnd = (): Buffer => Buffer.alloc(2 * BLOCK)

/** Splits chunks of any size into numbered parts. Empty content is one empty part. */
export async function* splitIntoParts(name: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Part> {
  let held: Uint8Array[] = []
  let size = 0
  let number = 0
  const take = (): Part => {
    const part = { name: `${name}.${String((number += 1)).padStart(6, '0')}`, bytes: Buffer.concat(held) }
    held = []
    size = 0
    return part
  }
  for await (const chunk of chunks) {
    held.push(chunk)
    size += chunk.length
    if (size >= PART_BYTES) yield take()
  }
  if (size > 0 || number === 0) yield take()
}

/** Returns the name without the part's number: `tables/public.rows.000002` is part of `tables/public.rows`. */
export const removePartNumber = (name: string): string => name.replace(/\.\d{6,}$/, '')

function createHeader(name: string, size: number): Buffer {
  const head = Buffer.alloc(BLOCK)
  if (Buffer.byteLength(name) > NAME_BYTES)
    throw new Error(`the name of a part of an archive is too long: ${name} (${NAME_BYTES} bytes at most)`)
  head.write(name, 0)
  head.write('0000600\0', 100)
  head.write('0000000\0', 108)
  head.write('0000000\0', 116)
  head.write(`${size.toString(8).padStart(11, '0')}\0`, 124)
  head.write(
    `${Math.floor(Date.now() / 1000)
      .toString(8)
      .padStart(11, '0')}\0`,
    136,
  )
  head.write('        ', 148)
  head.write('0', 156)
  head.write('ustar\x0000', 257)
  head.write(`${sumHeader(head).toString(8).padStart(6, '0')}\0 `, 148)
  return head
}

/** Sums the bytes of a header. The field of the sum itself counts as blanks. */
function sumHeader(head: Buffer): number {
  let sum = 8 * 32
  for (const [at, byte] of head.entries()) if (at < 148 || at >= 156) sum += byte
  return sum
}

/** Yields the parts of an archive in order, each complete. */
export async function* readParts(chunks: AsyncIterable<Buffer>): AsyncGenerator<Part> {
  const source = createReader(chunks)
  for (;;) {
    const head = await source.read(BLOCK)
    if (head.every((byte) => byte === 0)) return
    const octal = (from: number, to: number) => {
      const digits = head.toString('latin1', from, to).replace(/[\0 ]+$/, '')
      return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN
    }
    const size = octal(124, 136)
    if (octal(148, 156) !== sumHeader(head) || !(size <= MAX_PART_BYTES)) throw notAnArchive()
    const name = head.toString('utf8', 0, NAME_BYTES).replace(/\0.*$/s, '')
    const bytes = await source.read(size)
    await source.read((BLOCK - (size % BLOCK)) % BLOCK)
    yield { name, bytes }
  }
}

export const notAnArchive = () =>
  invalid('file', 'is not a whole archive of loam backup: the file is damaged, cut off, or of another kind')

function createReader(chunks: AsyncIterable<Buffer>) {
  const iterator = chunks[Symbol.asyncIterator]()
  let held: Buffer[] = []
  let size = 0
  return {
    async read(wanted: number): Promise<Buffer> {
      while (size < wanted) {
        const next = await iterator.next()
        if (next.done === true) throw notAnArchive()
        held.push(next.value)
        size += next.value.length
      }
      const all = held.length === 1 && held[0] !== undefined ? held[0] : Buffer.concat(held)
      held = [all.subarray(wanted)]
      size -= wanted
      return all.subarray(0, wanted)
    },
  }
}
