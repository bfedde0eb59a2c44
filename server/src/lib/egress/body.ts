import type { Readable } from 'node:stream'
import zlib from 'node:zlib'
import { pause } from '../timing/turns.ts'
import { EgressFault } from './failures.ts'
import type { Holding } from './held-bytes.ts'
import { type SentHeaders, valuesOf } from './response.ts'

export const ACCEPT_ENCODING = 'gzip, deflate, br, zstd'

const MAX_ENCODINGS = 3
// RFC 9659: an HTTP client need not accept a window above 8 MB, while a frame may ask for 2 GB.
const ZSTD_WINDOW = { params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 } }

type Limits = { maxBytes: number; holding: Holding; deadline: { fault: EgressFault | undefined } }

/**
 * Decodes a body. The output of each decoding step must not exceed `maxBytes`. Decoding stops when the call
 * is over.
 */
export async function decodeBody(body: Buffer, headers: SentHeaders, limits: Limits): Promise<Uint8Array> {
  // Responses to HEAD requests and responses with status 304 name the encoding of a body that they do not
  // contain.
  if (body.length === 0) return body
  const encodings = encodingsOf(headers)
  let bytes = body
  for (const encoding of encodings.toReversed()) {
    throwIfOver(limits)
    bytes = await decode(bytes, encoding, limits)
  }
  return bytes
}

/** Throws if the declared length of a body exceeds the limit, before any of the body is read. */
export function checkDeclaredLength(headers: SentHeaders, maxBytes: number): void {
  if (Number(valuesOf(headers, 'content-length')[0] ?? 0) > maxBytes) throw tooLarge(maxBytes)
}

const PLAIN: readonly string[] = []

function encodingsOf(headers: SentHeaders): readonly string[] {
  const sent = valuesOf(headers, 'content-encoding')
  if (sent.length === 0) return PLAIN
  const encodings = sent
    .flatMap((value) => value.split(','))
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity')
  if (encodings.length > MAX_ENCODINGS)
    throw new EgressFault('protocol', 'the answer is encoded too many times.')
  return encodings
}

async function decode(input: Buffer, encoding: string, limits: Limits): Promise<Buffer> {
  const decoder = createDecoder(input, encoding)
  decoder.end(input)
  let output: Buffer
  try {
    output = await collect(decoder, limits)
  } catch (error) {
    if (error instanceof EgressFault) throw error
    throw new EgressFault('protocol', `the ${encoding} encoding of the answer is broken or cut off.`)
  }
  // A decoder stops at the end of its first frame. Bytes after it would be lost silently.
  if (decoder.bytesWritten < input.length) {
    throw new EgressFault('protocol', `the answer goes on after the end of its ${encoding} encoding.`)
  }
  return output
}

function createDecoder(input: Buffer, encoding: string) {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip()
    case 'deflate':
      // Servers disagree about this encoding: with zlib's framing (RFC 9110) or without.
      return ((input[0] ?? 0) & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw()
    case 'br':
      return zlib.createBrotliDecompress()
    case 'zstd':
      return zlib.createZstdDecompress(ZSTD_WINDOW)
    default:
      throw new EgressFault('protocol', 'the answer has an encoding that was not asked for.')
  }
}

async function collect(source: Readable, limits: Limits): Promise<Buffer> {
  const { maxBytes, holding } = limits
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of source as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge(maxBytes)
    chunks.push(chunk)
    holding.add(chunk.length)
    throwIfOver(limits)
  }
  await pause()
  return Buffer.concat(chunks, size)
}

function throwIfOver({ deadline }: Limits): void {
  if (deadline.fault !== undefined) throw deadline.fault
}

export function tooLarge(maxBytes: number): EgressFault {
  return new EgressFault('too_large', `the answer is larger than ${maxBytes} bytes.`)
}
