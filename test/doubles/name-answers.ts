import { createSocket } from 'node:dgram'

/**
 * The records that a name server has for a name. `code` is the failure for missing records: 2 is SERVFAIL.
 */
export type Records = {
  a?: string[]
  aaaa?: string[]
  mx?: [priority: number, exchange: string][]
  txt?: string[]
  cname?: string
  ns?: string[]
  ptr?: string[]
  code?: number
}
export type Zone = Record<string, Records>

const TYPES = { 1: 'A', 2: 'NS', 5: 'CNAME', 12: 'PTR', 15: 'MX', 16: 'TXT', 28: 'AAAA' } as const
const NXDOMAIN = 3

/** Starts a name server on loopback that knows these names. Other names do not exist. */
export async function openNameServer(
  zone: Zone,
): Promise<{ server: string; asked: string[]; close: () => void }> {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query, peer) => {
    const { name, end } = readName(query)
    const type = TYPES[query.readUInt16BE(end) as keyof typeof TYPES]
    asked.push(`${name} ${type}`)
    const known = zone[name]
    const answers = known === undefined ? [] : recordsOf(known, type)
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    const code = known === undefined ? NXDOMAIN : answers.length > 0 ? 0 : (known.code ?? 0)
    header.writeUInt16BE(0x8180 | code, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(answers.length, 6)
    const records = answers.map((data) => {
      const fixed = Buffer.from([0xc0, 12, ...query.subarray(end, end + 2), 0, 1, 0, 0, 0, 60, 0, 0])
      fixed.writeUInt16BE(data.length, 10)
      return Buffer.concat([fixed, data])
    })
    socket.send(Buffer.concat([header, query.subarray(12, end + 4), ...records]), peer.port, peer.address)
  })
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve)
  })
  return { server: `127.0.0.1:${socket.address().port}`, asked, close: () => void socket.close() }
}

function recordsOf(known: Records, type: (typeof TYPES)[keyof typeof TYPES] | undefined): Buffer[] {
  switch (type) {
    case 'A':
      return (known.a ?? []).map((address) => Buffer.from(address.split('.').map(Number)))
    case 'AAAA':
      return (known.aaaa ?? []).map(writeAddress6)
    case 'NS':
      return (known.ns ?? []).map(writeName)
    case 'PTR':
      return (known.ptr ?? []).map(writeName)
    case 'CNAME':
      return known.cname === undefined ? [] : [writeName(known.cname)]
    case 'MX':
      return (known.mx ?? []).map(([priority, exchange]) =>
        Buffer.concat([Buffer.from([priority >> 8, priority & 255]), writeName(exchange)]),
      )
    case 'TXT':
      return (known.txt ?? []).map(writeText)
    case undefined:
      return []
  }
}

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

function writeName(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '')
  return Buffer.concat([
    ...labels.map((label) => Buffer.from([label.length, ...Buffer.from(label, 'latin1')])),
    Buffer.alloc(1),
  ])
}

/** Encodes a text in parts of at most 255 bytes. */
function writeText(text: string): Buffer {
  const parts = text.match(/[\s\S]{1,255}/g) ?? ['']
  return Buffer.concat(parts.map((part) => Buffer.from([part.length, ...Buffer.from(part, 'latin1')])))
}

function writeAddress6(address: string): Buffer {
  const [head = '', tail] = address.split('::')
  const words = (text: string) =>
    text
      .split(':')
      .filter(Boolean)
      .map((word) => Number.parseInt(word, 16))
  const [front, back] = [words(head), words(tail ?? '')]
  const all = [...front, ...Array.from({ length: 8 - front.length - back.length }, () => 0), ...back]
  return Buffer.from(all.flatMap((word) => [word >> 8, word & 255]))
}
