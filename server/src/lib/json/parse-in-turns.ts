import { pause } from '../timing/turns.ts'
import { endOfValue, type JsonExtent, skipBlanks } from './json-scan.ts'
import { setOwn } from './object.ts'
import { type JsonScan, scanInTurns, PIECE } from './scan-in-turns.ts'

/**
 * The error for text that is not JSON. Its message does not matter: JSON.parse produces the real message
 * later.
 */
class NoJson extends SyntaxError {}

/**
 * Parses a large JSON text without blocking the event loop. Containers are cut into pieces that `parse` reads
 * at once, and other work has its turn in between. A worker thread would not help, because its result is
 * copied by the thread that asked. `check` may refuse the text before it is parsed.
 */
export async function parseInTurns(
  text: string,
  parse: (json: string) => unknown,
  check: (extent: JsonExtent) => void = () => undefined,
  maxKeys?: number,
): Promise<unknown> {
  const scan = await scanInTurns(text)
  check(scan)
  try {
    return await parseScanned(text, scan, parse, maxKeys)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    // The parser itself reports best what is wrong.
    return JSON.parse(text)
  }
}

/** The error for an object with more keys than are allowed. */
export class TooManyKeys extends Error {}

/**
 * Parses a text that has been scanned. Throws a SyntaxError without a useful message if the text is not JSON.
 */
export async function parseScanned(
  text: string,
  { isBalanced, ends }: JsonScan,
  parse: (json: string) => unknown,
  maxKeys = Number.POSITIVE_INFINITY,
): Promise<unknown> {
  if (!isBalanced) throw new NoJson()
  const { endOf, itemsOf, entriesOf } = createPieces(text, ends)
  const start = skipBlanks(text, 0)
  const end = endOf(start)
  if (skipBlanks(text, end) !== text.length) throw new NoJson()
  return parsePart(start, end)

  async function parsePart(from: number, to: number): Promise<unknown> {
    await pause()
    // A text contains no numbers that `parse` would have to find.
    if (text[from] === '"') return JSON.parse(text.slice(from, to))
    const isArray = text[from] === '['
    if (to - from <= PIECE || (!isArray && text[from] !== '{')) return parse(text.slice(from, to))
    if (text[to - 1] !== (isArray ? ']' : '}')) throw new NoJson()
    return isArray ? parseItems(from + 1, to - 1) : parseEntries(from + 1, to - 1)
  }

  async function parseItems(from: number, to: number): Promise<unknown[]> {
    const items: unknown[] = []
    for (const piece of itemsOf(from, to)) {
      if (piece.single) items.push(await parsePart(piece.from, piece.to))
      else for (const item of parse(`[${text.slice(piece.from, piece.to)}]`) as unknown[]) items.push(item)
      await pause()
    }
    return items
  }

  async function parseEntries(from: number, to: number): Promise<object> {
    const object = {}
    let count = 0
    for (const piece of entriesOf(from, to)) {
      if (count > maxKeys) throw new TooManyKeys()
      if (piece.single) {
        count += 1
        const key = endOf(piece.from)
        const value = skipBlanks(text, skipBlanks(text, key) + 1)
        const name = JSON.parse(text.slice(piece.from, key)) as string
        setOwn(object, name, await parsePart(value, piece.to))
      } else {
        const part = parse(`{${text.slice(piece.from, piece.to)}}`) as object
        const entries = Object.entries(part)
        count += entries.length
        for (const [name, value] of entries) setOwn(object, name, value)
      }
      await pause()
    }
    if (count > maxKeys) throw new TooManyKeys()
    return object
  }
}

/** Cuts the containers of a scanned text into pieces. */
function createPieces(text: string, ends: JsonScan['ends']) {
  /**
   * Returns the end of a value. The ends of large values are known from the scan, so that no long text is
   * scanned twice.
   */
  function endOf(at: number): number {
    return ends.get(at) ?? endOfValue(text, at)
  }

  /**
   * Yields the pieces of a container. Neighbours are joined up to the size of a piece; a larger value is a
   * piece of its own.
   */
  function* piecesOf(from: number, to: number, endOfNext: (at: number) => number) {
    let group: { from: number; to: number } | undefined
    let at = skipBlanks(text, from)
    while (at < to) {
      const end = endOfNext(at)
      if (end === at || end > to) throw new NoJson()
      if (group !== undefined && end - group.from > PIECE) {
        yield { ...group, single: false }
        group = undefined
      }
      if (end - at > PIECE) yield { from: at, to: end, single: true }
      else group = { from: group?.from ?? at, to: end }
      at = startOfNext(text, end, to)
    }
    if (group !== undefined) yield { ...group, single: false }
  }

  function endOfEntry(at: number): number {
    if (text[at] !== '"') throw new NoJson()
    const colon = skipBlanks(text, endOf(at))
    if (text[colon] !== ':') throw new NoJson()
    const value = skipBlanks(text, colon + 1)
    const end = endOf(value)
    if (end === value) throw new NoJson()
    return end
  }

  return {
    endOf,
    itemsOf: (from: number, to: number) => piecesOf(from, to, endOf),
    entriesOf: (from: number, to: number) => piecesOf(from, to, endOfEntry),
  }
}

/** Returns the position after the required comma, or the end of the container. */
function startOfNext(text: string, end: number, to: number): number {
  const comma = skipBlanks(text, end)
  if (comma >= to) return to
  const next = skipBlanks(text, comma + 1)
  if (text[comma] !== ',' || next >= to) throw new NoJson()
  return next
}
