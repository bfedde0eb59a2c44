import { invalid } from '../../lib/errors.ts'

/**
 * An archive is a tar that any tar reads, of parts that fit into memory: what is larger is several parts in a row, named by
 * their number (`tables/public.rows.000002`). Sizes are known when a part is written, whatever the length of the whole.
 */
export type Part = { name: string; bytes: Buffer }

const BLOCK = 512
const PART_BYTES = 4 * 1024 * 1024
/** More than the largest row of a table; a larger part is no part of ours. */
const MAX_PART_BYTES = 1024 * 1024 * 1024
const NAME_BYTES = 100

export function* packPart({ name, bytes }: Part): Generator<Buffer> {
  yield headOf(name, bytes.length)
  yield bytes
  const rest = bytes.length % BLOCK
  if (rest > 0) yield Buffer.alloc(BLOCK - rest)
}

/** What ends a tar: two empty blocks. */
export const packEnd = (): Buffer => Buffer.alloc(2 * BLOCK)

/** Chunks of any size as numbered parts; what is empty is one empty part. */
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

/** `tables/public.rows.000002` is part of `tables/public.rows`. */
export const wholeOf = (name: string): string => name.replace(/\.\d{6,}$/, '')

function headOf(name: string, size: number): Buffer {
  const head = Buffer.alloc(BLOCK)
  if (Buffer.byteLength(name) > NAME_BYTES) throw new Error(`${name} is too long for the name of a part`)
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
  head.write(`${sumOf(head).toString(8).padStart(6, '0')}\0 `, 148)
  return head
}

/** The sum counts its own field as blanks. */
function sumOf(head: Buffer): number {
  let sum = 8 * 32
  for (const [at, byte] of head.entries()) if (at < 148 || at >= 156) sum += byte
  return sum
}

/** The parts of an archive in order, each whole. */
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
    if (octal(148, 156) !== sumOf(head) || !(size <= MAX_PART_BYTES)) throw notAnArchive()
    const name = head.toString('utf8', 0, NAME_BYTES).replace(/\0.*$/s, '')
    const bytes = await source.read(size)
    await source.read((BLOCK - (size % BLOCK)) % BLOCK)
    yield { name, bytes }
  }
}

export const notAnArchive = () =>
  invalid('file', 'is not a whole archive of loam backup: it is damaged, cut off, or something else')

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
