import type { IncomingHttpHeaders } from 'node:http'

/** The bytes from `start` up to but not including `end`. */
export type ByteRange = { start: number; end: number }

const ONE_RANGE = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/

/**
 * Returns the range that a request asks for. Returns undefined if it asks for none, for several, in another
 * unit, or for one of a file that has changed since: such requests get the whole file, as RFC 9110 allows.
 */
export function readRange(
  headers: IncomingHttpHeaders,
  size: number,
  etag: string,
): ByteRange | 'unsatisfiable' | undefined {
  const match = ONE_RANGE.exec(headers.range ?? '')
  const ifRange = headers['if-range']
  if (match === null || (ifRange !== undefined && ifRange !== etag)) return undefined
  const [, first, last, suffix] = match
  const start = first === undefined ? Math.max(0, size - Number(suffix)) : Number(first)
  const end = last === undefined ? size : Math.min(size, Number(last) + 1)
  if (last !== undefined && Number(last) < Number(first)) return undefined
  return start >= end ? 'unsatisfiable' : { start, end }
}
