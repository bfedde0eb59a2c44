import { crc32, deflateRawSync } from 'node:zlib'

export type ZipPart = {
  name: string
  content: string | Buffer
  /** Stores the part without compression. */
  stored?: true
  /** The false information about the part in the archive. */
  claims?: { size?: number; method?: number; locked?: true; offset?: number }
}

type ZipOptions = { zip64?: true; comment?: string }

/** Makes an archive with exactly these parts. It may contain false information. */
export function makeZip(parts: ZipPart[], { zip64, comment = '' }: ZipOptions = {}): Buffer {
  const bodies: Buffer[] = []
  const entries: Buffer[] = []
  let offset = 0
  for (const part of parts) {
    const content = Buffer.from(part.content)
    const packed = part.stored ? content : deflateRawSync(content)
    const name = Buffer.from(part.name)
    const method = part.claims?.method ?? (part.stored ? 0 : 8)
    const size = part.claims?.size ?? content.length
    const flags = part.claims?.locked ? 1 : 0
    const shared = (at: number) => {
      const fields = Buffer.alloc(26)
      fields.writeUInt16LE(20, 0)
      fields.writeUInt16LE(flags, 2)
      fields.writeUInt16LE(method, 4)
      fields.writeUInt32LE(crc32(content), 10)
      fields.writeUInt32LE(at === 1 && zip64 ? 0xffffffff : packed.length, 14)
      fields.writeUInt32LE(at === 1 && zip64 ? 0xffffffff : size, 18)
      fields.writeUInt16LE(name.length, 22)
      return fields
    }
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), shared(0), name, packed])
    const extra = zip64 ? longFields(size, packed.length, offset) : Buffer.alloc(0)
    const central = shared(1)
    central.writeUInt16LE(extra.length, 24)
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(zip64 ? 0xffffffff : (part.claims?.offset ?? offset), 10)
    entries.push(Buffer.concat([Buffer.from('PK\u0001\u0002\u0014\u0000'), central, rest, name, extra]))
    bodies.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(entries)
  return Buffer.concat(
    [...bodies, directory, ...endOf(parts.length, directory.length, offset, zip64), Buffer.from(comment)].map(
      (part, n, all) => (n === all.length - 2 ? withComment(part, comment) : part),
    ),
  )
}

function longFields(size: number, packed: number, offset: number): Buffer {
  const extra = Buffer.alloc(28)
  extra.writeUInt16LE(1, 0)
  extra.writeUInt16LE(24, 2)
  for (const [n, value] of [size, packed, offset].entries()) extra.writeBigUInt64LE(BigInt(value), 4 + n * 8)
  return extra
}

function endOf(count: number, length: number, offset: number, zip64: true | undefined): Buffer[] {
  const end = Buffer.alloc(22)
  end.write('PK\u0005\u0006', 'latin1')
  end.writeUInt16LE(zip64 ? 0xffff : count, 8)
  end.writeUInt16LE(zip64 ? 0xffff : count, 10)
  end.writeUInt32LE(zip64 ? 0xffffffff : length, 12)
  end.writeUInt32LE(zip64 ? 0xffffffff : offset, 16)
  if (!zip64) return [end]
  const long = Buffer.alloc(56)
  long.write('PK\u0006\u0006', 'latin1')
  long.writeBigUInt64LE(BigInt(count), 32)
  long.writeBigUInt64LE(BigInt(length), 40)
  long.writeBigUInt64LE(BigInt(offset), 48)
  const locator = Buffer.alloc(20)
  locator.write('PK\u0006\u0007', 'latin1')
  locator.writeBigUInt64LE(BigInt(offset + length), 8)
  return [long, locator, end]
}

function withComment(end: Buffer, comment: string): Buffer {
  const changed = Buffer.from(end)
  changed.writeUInt16LE(Buffer.byteLength(comment), 20)
  return changed
}
