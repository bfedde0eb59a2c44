import { createTurns } from '../timing/turns.ts'
import { endOfString, endOfValue, skipBlanks } from './json-scan.ts'

/** What is parsed at once. A larger container is parsed piece by piece. */
const PIECE = 128 * 1024

/** What JSON.parse would make of the text is made elsewhere: here it is found out that it is none. */
class NoJson extends Error {}

/**
 * Parses a large text of JSON without holding the event loop: containers are cut into pieces that `parse` reads at once, and
 * others have their turn in between. A worker thread would not do: its answer is copied by the thread that asked.
 */
export async function parseInTurns(text: string, parse: (json: string) => unknown): Promise<unknown> {
  const pause = createTurns()
  const start = skipBlanks(text, 0)
  try {
    const end = endOfValue(text, start)
    if (skipBlanks(text, end) !== text.length) throw new NoJson()
    return await parsePart(start, end)
  } catch (cause) {
    // The parser itself says best what is wrong.
    if (cause instanceof NoJson || cause instanceof SyntaxError) return parse(text)
    throw cause
  }

  async function parsePart(from: number, to: number): Promise<unknown> {
    await pause()
    const isArray = text[from] === '['
    if (to - from <= PIECE || (!isArray && text[from] !== '{')) return parse(text.slice(from, to))
    if (text[to - 1] !== (isArray ? ']' : '}')) throw new NoJson()
    return isArray ? parseItems(from + 1, to - 1) : parseEntries(from + 1, to - 1)
  }

  async function parseItems(from: number, to: number): Promise<unknown[]> {
    const items: unknown[] = []
    for (const piece of piecesOf(from, to, endOfValue)) {
      if (piece.single) items.push(await parsePart(piece.from, piece.to))
      else for (const item of parse(`[${text.slice(piece.from, piece.to)}]`) as unknown[]) items.push(item)
      await pause()
    }
    return items
  }

  async function parseEntries(from: number, to: number): Promise<object> {
    const object = {}
    for (const piece of piecesOf(from, to, endOfEntry)) {
      if (piece.single) {
        const key = endOfString(text, piece.from)
        const value = skipBlanks(text, skipBlanks(text, key) + 1)
        const name = parse(text.slice(piece.from, key)) as string
        setOwn(object, name, await parsePart(value, piece.to))
      } else {
        const part = parse(`{${text.slice(piece.from, piece.to)}}`) as object
        for (const [name, value] of Object.entries(part)) setOwn(object, name, value)
      }
      await pause()
    }
    return object
  }

  /** Neighbours go together up to the size of a piece; what is larger than that goes alone. */
  function* piecesOf(from: number, to: number, endOf: (text: string, at: number) => number) {
    let group: { from: number; to: number } | undefined
    let at = skipBlanks(text, from)
    while (at < to) {
      const end = endOf(text, at)
      if (end === at || end > to) throw new NoJson()
      if (group !== undefined && end - group.from > PIECE) {
        yield { ...group, single: false }
        group = undefined
      }
      if (end - at > PIECE) yield { from: at, to: end, single: true }
      else group = { from: group?.from ?? at, to: end }
      at = startOfNext(end, to)
    }
    if (group !== undefined) yield { ...group, single: false }
  }

  /** Behind the comma that has to follow, unless the container ends here. */
  function startOfNext(end: number, to: number): number {
    const comma = skipBlanks(text, end)
    if (comma >= to) return to
    const next = skipBlanks(text, comma + 1)
    if (text[comma] !== ',' || next >= to) throw new NoJson()
    return next
  }
}

function endOfEntry(text: string, start: number): number {
  if (text[start] !== '"') throw new NoJson()
  const colon = skipBlanks(text, endOfString(text, start))
  if (text[colon] !== ':') throw new NoJson()
  const value = skipBlanks(text, colon + 1)
  const end = endOfValue(text, value)
  if (end === value) throw new NoJson()
  return end
}

/** A name such as __proto__ is one like any other. */
function setOwn(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}
