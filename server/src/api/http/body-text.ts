import type { IncomingMessage } from 'node:http'
import { AppError, invalid } from '../../lib/errors.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * The text of a body. What does not arrive at once is gathered in one block of the size that was promised, which is given back
 * as soon as it is text: of many megabytes that are only left for the garbage collector it thinks of late.
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
      : invalid('body', 'it broke off before its end')
  } finally {
    giveBack(block)
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
  giveBack(block)
  return larger
}

/** Nothing of it can be read any more. */
function giveBack(block: Buffer<ArrayBuffer>): void {
  block.buffer.transfer(0)
}
