import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { createInflateRaw } from 'node:zlib'
import { FileFault } from '../../lib/csv/file-fault.ts'
import { pause } from '../../lib/timing/turns.ts'

const END = 0x06054b50
const END_LENGTH = 22
const END64 = 0x06064b50
const LOCATOR64 = 0x07064b50
const ENTRY = 0x02014b50
const LOCAL = 0x04034b50
const MAX_COMMENT = 65_535
const MAX_DIRECTORY_BYTES = 16 * 1024 * 1024
const BLOCK = 64 * 1024

/**
 * The maximum ratio of unpacking. Tables compress to a tenth or a fiftieth; a large file with a higher ratio is an
 * attack.
 */
const MAX_RATIO = 200
const MAX_HARMLESS_BYTES = 32 * 1024 * 1024

type Entry = { name: string; method: number; packed: number; size: number; offset: number; locked: boolean }

export type ZipArchive = {
  has(name: string): boolean
  /** Unpacks an entry while it is read. It returns no more than the entry declares or `limit` allows. */
  read(name: string, limit: number): AsyncIterable<Buffer>
}

/** Opens the contents of a zip archive by its directory. Nothing in the archive is trusted. */
export async function openZip(file: FileHandle): Promise<ZipArchive> {
  const entries = await readDirectory(file)
  return {
    has: (name) => entries.has(name),
    read(name, limit) {
      const entry = entries.get(name)
      if (entry === undefined) throw new FileFault(`The workbook is damaged: it has no part ${name}`)
      if (entry.locked) throw new FileFault('The workbook is protected with a password; save it without one')
      if (entry.method !== 0 && entry.method !== 8) throw damaged(`${name} is packed in an unknown way`)
      const isSuspicious = entry.size > MAX_HARMLESS_BYTES && entry.size > MAX_RATIO * entry.packed
      if (entry.size > limit || isSuspicious) throw expansionFault(name, entry.size)
      return unpack(file, entry)
    },
  }
}

async function* unpack(file: FileHandle, entry: Entry): AsyncGenerator<Buffer> {
  const header = await readAt(file, entry.offset, 30)
  if (header.readUInt32LE(0) !== LOCAL) throw damaged(`${entry.name} is not at its declared offset`)
  const start = entry.offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28)
  const packed = Readable.from(blocksOf(file, start, entry.packed))
  const inflate = createInflateRaw({ chunkSize: BLOCK })
  packed.on('error', (cause) => inflate.destroy(cause))
  const body: Readable = entry.method === 0 ? packed : packed.pipe(inflate)
  let size = 0
  try {
    for await (const block of body) {
      size += (block as Buffer).length
      if (size > entry.size) throw expansionFault(entry.name, size)
      yield block as Buffer
    }
  } catch (cause) {
    if (isDeflateError(cause)) throw damaged(`${entry.name} cannot be unpacked`)
    throw cause
  } finally {
    packed.destroy()
    inflate.destroy()
  }
  if (size !== entry.size) throw damaged(`${entry.name} is cut off`)
}

function isDeflateError(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && String(cause.code).startsWith('Z_')
}

async function* blocksOf(file: FileHandle, start: number, length: number): AsyncGenerator<Buffer> {
  for (let done = 0; done < length; done += BLOCK) {
    yield await readAt(file, start + done, Math.min(BLOCK, length - done))
  }
}

async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const block = Buffer.allocUnsafe(length)
  for (let done = 0; done < length;) {
    const { bytesRead } = await file.read(block, done, length - done, offset + done)
    if (bytesRead === 0) throw damaged('it is cut off')
    done += bytesRead
  }
  return block
}

async function readDirectory(file: FileHandle): Promise<Map<string, Entry>> {
  const { size } = await file.stat()
  const start = size < 8 ? Buffer.alloc(8) : await readAt(file, 0, 8)
  if (start.readUInt32BE(0) === 0xd0cf11e0) {
    throw new FileFault(
      'The workbook is protected with a password (or is an old .xls file); save it as .xlsx without a password',
    )
  }
  if (start.readUInt32LE(0) !== LOCAL) {
    throw new FileFault(
      'The file is not an XLSX workbook (no zip archive); save it as .xlsx and upload it again',
    )
  }
  const { offset, length, count } = await findDirectory(file, size)
  if (length > MAX_DIRECTORY_BYTES || offset + length > size) throw damaged('its directory is out of bounds')
  const directory = await readAt(file, offset, length)
  const entries = new Map<string, Entry>()
  let at = 0
  for (let n = 0; n < count; n++) {
    await pause()
    if (at + 46 > length || directory.readUInt32LE(at) !== ENTRY) throw damaged('its directory is broken')
    const entry = readEntry(directory, at)
    if (entry.offset + entry.packed > size) throw damaged(`${entry.name} is out of bounds`)
    entries.set(entry.name, entry)
    at +=
      46 + directory.readUInt16LE(at + 28) + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32)
  }
  return entries
}

async function findDirectory(file: FileHandle, size: number) {
  const tailLength = Math.min(size, END_LENGTH + MAX_COMMENT)
  const tail = await readAt(file, size - tailLength, tailLength)
  let at = tail.length - END_LENGTH
  while (at >= 0 && tail.readUInt32LE(at) !== END) at -= 1
  if (at < 0) throw damaged('it is cut off')
  const place = {
    count: tail.readUInt16LE(at + 10),
    length: tail.readUInt32LE(at + 12),
    offset: tail.readUInt32LE(at + 16),
  }
  const isLarge = place.count === 0xffff || place.length === 0xffffffff || place.offset === 0xffffffff
  if (!isLarge || at < 20 || tail.readUInt32LE(at - 20) !== LOCATOR64) return place
  const end64 = Number(tail.readBigUInt64LE(at - 20 + 8))
  if (end64 + 56 > size) throw damaged('its directory is out of bounds')
  const record = await readAt(file, end64, 56)
  if (record.readUInt32LE(0) !== END64) throw damaged('its directory is broken')
  return {
    count: Number(record.readBigUInt64LE(32)),
    length: Number(record.readBigUInt64LE(40)),
    offset: Number(record.readBigUInt64LE(48)),
  }
}

function readEntry(directory: Buffer, at: number): Entry {
  const nameEnd = at + 46 + directory.readUInt16LE(at + 28)
  const extraEnd = nameEnd + directory.readUInt16LE(at + 30)
  const short = {
    size: directory.readUInt32LE(at + 24),
    packed: directory.readUInt32LE(at + 20),
    offset: directory.readUInt32LE(at + 42),
  }
  return {
    name: directory.toString('utf8', at + 46, nameEnd).replaceAll('\\', '/'),
    method: directory.readUInt16LE(at + 10),
    locked: (directory.readUInt16LE(at + 8) & 1) === 1,
    ...short,
    ...longSizes(directory.subarray(nameEnd, extraEnd), short),
  }
}

/**
 * Reads the sizes of a Zip64 entry. Those of the three that do not fit into 32 bits are in an extra field, in this
 * order.
 */
function longSizes(extra: Buffer, short: Pick<Entry, 'size' | 'packed' | 'offset'>): Partial<Entry> {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue
    const long: Partial<Entry> = {}
    let from = at + 4
    for (const name of ['size', 'packed', 'offset'] as const) {
      if (short[name] !== 0xffffffff || from + 8 > extra.length) continue
      long[name] = Number(extra.readBigUInt64LE(from))
      from += 8
    }
    return long
  }
  return {}
}

export const damaged = (how: string): FileFault => new FileFault(`The workbook is damaged: ${how}`)

const expansionFault = (name: string, size: number) =>
  new FileFault(
    `The workbook was refused: its part ${name} unpacks to ${Math.ceil(size / 1024 / 1024)} MB or more`,
  )
