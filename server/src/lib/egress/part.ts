import { EgressFault } from './failures.ts'
import type { EgressRequest } from './request.ts'
import { type SentHeaders, valuesOf } from './response.ts'

type Part = NonNullable<EgressRequest['part']>
type Answer = { status: number; headers: SentHeaders }

/** The range of bytes of a body that is kept. */
export type Kept = { skip: number; take: number }

/**
 * Returns the headers that ask for a part of a body. Compression is refused because the bytes are counted as
 * they are stored.
 */
export function headersFor({ start, size }: Part): string[] {
  return ['range', `bytes=${start}-${start + size - 1}`, 'accept-encoding', 'identity']
}

/**
 * Returns the range to keep of a response: the part as it was sent, or the same bytes of the whole body.
 * Returns null for any other response.
 */
export function keptOf(part: Part | undefined, { status, headers }: Answer): Kept | null {
  if (part === undefined || (status !== 200 && status !== 206)) return null
  const encodings = valuesOf(headers, 'content-encoding')
  if (encodings.length > 0 && encodings.join() !== 'identity') {
    throw new EgressFault('protocol', 'the answer is compressed, although a part of it was asked for.')
  }
  if (status === 200) return { skip: part.start, take: Math.max(part.size, part.sizeOfWhole ?? 0) }
  if (rangeOf(headers)?.first !== part.start) {
    throw new EgressFault('protocol', 'the answer is another part than was asked for.')
  }
  return { skip: 0, take: part.size }
}

/** Returns true if the body continues after a part that was sent with status 206. */
export function goesOn({ status, headers }: Answer, part: Part | undefined, length: number): boolean {
  if (part === undefined || status !== 206) return false
  const range = rangeOf(headers)
  return range?.total === undefined ? length >= part.size : range.last + 1 < range.total
}

/** Parses `bytes 0-499/1234`. The server writes `*` for the total if it does not know the length. */
function rangeOf(
  headers: Answer['headers'],
): { first: number; last: number; total: number | undefined } | null {
  const [found, first, last, total] =
    /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(valuesOf(headers, 'content-range')[0] ?? '') ?? []
  if (found === undefined) return null
  return { first: Number(first), last: Number(last), total: total === '*' ? undefined : Number(total) }
}
