import type { IncomingMessage } from 'node:http'
import { AppError, invalid } from '../../lib/errors.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads the text of a body. A body in several chunks is collected in one block of the announced size, and the
 * block is released as soon as it is decoded: left to the garbage collector, blocks of many megabytes would
 * stay in memory long.
 */
export async function readBodyText(payload: IncomingMessage, maxBytes: number): Promise<string> {
  const promised = Number(payload.headers['content-length'] ?? 0)
  // The rest of the body is discarded once the refusal is sent.
  if (promised > maxBytes) throw bodyTooLarge(maxBytes)
  let block = Buffer.alloc(0)
  let length = 0
  try {
    const chunks: AsyncIterable<Buffer> = payload.iterator({ destroyOnReturn: false })
    for await (const chunk of chunks) {
      const start = length
      length += chunk.length
      if (length > maxBytes) throw bodyTooLarge(maxBytes)
      if (start === 0 && length === promised) return decode(chunk)
      if (length > block.length) block = enlarge(block, Math.min(Math.max(promised, 2 * length), maxBytes))
      chunk.copy(block, start)
    }
    return decode(block.subarray(0, length))
  } catch (cause) {
    throw cause instanceof AppError || payload.complete
      ? cause
      : invalid('body', 'the body ended before its announced length')
  } finally {
    release(block)
  }
}

export function bodyTooLarge(maxBytes: number): AppError {
  return new AppError('Payload Too Large', `The body must be at most ${maxBytes} bytes`)
}

function decode(bytes: Buffer): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw invalid('body', 'must be UTF-8')
  }
}

function enlarge(block: Buffer<ArrayBuffer>, size: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafeSlow(size)
  block.copy(larger)
  release(block)
  return larger
}

/** Frees the memory of a block at once. Its bytes cannot be read any more. */
function release(block: Buffer<ArrayBuffer>): void {
  block.buffer.transfer(0)
}
