import { FileFault } from '../../../lib/csv/file-fault.ts'
import { parseExact } from '../../../lib/json/lossless-json.ts'
import { isObject } from '../../../lib/json/object.ts'
import { decode } from './csv-page.ts'
import { type Chunk, type FilePage, type FilePlace, nextSize } from './place.ts'

/** Returns the complete lines in a chunk of a file, at most `limit`. Each line is a JSON object. */
export function readJsonlPage({ bytes, more }: Chunk, here: FilePlace, limit: number): FilePage {
  const text = decode({ bytes, more })
  const rows: Record<string, unknown>[] = []
  let at = 0
  while (at < text.length && rows.length < limit) {
    const end = text.indexOf('\n', at) + 1 || (more ? 0 : text.length)
    if (end === 0) break
    const line = text.slice(at, end).trim()
    if (line !== '') rows.push(readLine(line, here.byte, at))
    at = end
  }
  const length = Buffer.byteLength(text.slice(0, at))
  const size = nextSize(here.size, length)
  if (size === null) throw new FileFault(`The line at byte ${here.byte} is longer than 16 MB`)
  return { rows, next: !more && at === text.length ? null : { ...here, byte: here.byte + length, size } }
}

function readLine(line: string, byte: number, at: number): Record<string, unknown> {
  try {
    const value = parseExact(line)
    if (isObject(value)) return value
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
  }
  throw new FileFault(`The line near byte ${byte + at} is not a JSON object: ${line.slice(0, 80)}`)
}
