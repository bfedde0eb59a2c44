import { readSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { FileFault } from '../../lib/csv/file-fault.ts'
import { unescapeText } from './xlsx-values.ts'
import { scanPart } from './xlsx-workbook.ts'
import { damaged, type ZipArchive } from './zip-archive.ts'

/** The number of strings in a page. Neighbouring cells mostly refer to the same page. */
const PAGE = 16
/** The maximum length of a page. A longer string gets its own page, because a whole page is read for a single cell. */
const PAGE_LENGTH = 16 * 1024
/** The maximum length of a string. Excel's own limit is 32,767. */
const MAX_LENGTH = 1024 * 1024
const WRITE_BYTES = 1024 * 1024
/** The total length of the pages kept in memory. */
const KEPT_LENGTH = 16 * 1024 * 1024
const MAX_PART_BYTES = 4 * 1024 * 1024 * 1024

/** The first byte of a page that is one long, unencoded string. A JSON page starts with a bracket. */
const LONG = 'U'

type Page = { strings: string[]; length: number }

/** The strings that the cells of a workbook share. They are on disk, because there may be millions. */
export type SharedStrings = {
  add(text: string): void
  /** Writes the added strings if there are enough of them, or `all` of them. */
  flush(all?: 'all'): Promise<void>
  get(index: number): string
}

export function createSharedStrings(file: FileHandle): SharedStrings {
  const starts: number[] = [0]
  /** The index of the first string of each page. */
  const firsts: number[] = []
  let page: string[] = []
  let pageLength = 0
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let count = 0

  const pages = createPageCache(file, starts)

  function closePage(): void {
    if (page.length === 0) return
    // A long string is not stored as JSON, which would be parsed for each cell that refers to it.
    const [only = ''] = page
    const isLong = page.length === 1 && only.length > PAGE_LENGTH
    const bytes = isLong ? Buffer.from(LONG + only, 'utf16le') : Buffer.from(JSON.stringify(page))
    waiting.push(bytes)
    waitingBytes += bytes.length
    starts.push((starts.at(-1) ?? 0) + bytes.length)
    firsts.push(count - page.length)
    page = []
    pageLength = 0
  }

  /** Returns the page that holds a string. */
  function pageWith(index: number): number {
    let [low, high] = [0, firsts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((firsts[middle] ?? 0) <= index) low = middle
      else high = middle - 1
    }
    return low
  }

  return {
    add(text) {
      if (text.length > PAGE_LENGTH) closePage()
      page.push(text)
      count += 1
      pageLength += text.length
      if (page.length === PAGE || pageLength > PAGE_LENGTH) closePage()
    },
    async flush(all) {
      if (all !== undefined) closePage()
      if (all === undefined && waitingBytes < WRITE_BYTES) return
      await file.appendFile(Buffer.concat(waiting))
      waiting = []
      waitingBytes = 0
    },
    get(index) {
      if (!Number.isInteger(index) || index < 0 || index >= count) {
        throw damaged(`a cell refers to the shared text ${index}, of which there are ${count}`)
      }
      const found = pageWith(index)
      return pages.get(found).strings[index - (firsts[found] ?? 0)] ?? ''
    },
  }
}

/** Reads pages from the disk and keeps the most recently used ones. `starts` holds where each page starts. */
function createPageCache(file: FileHandle, starts: readonly number[]) {
  const kept = new Map<number, Page>()
  let keptLength = 0

  function loadPage(number: number): Page {
    const [start = 0, end = 0] = [starts[number], starts[number + 1]]
    const bytes = Buffer.allocUnsafe(end - start)
    for (let done = 0; done < bytes.length;) {
      done += readSync(file.fd, bytes, done, bytes.length - done, start + done)
    }
    const strings: string[] =
      bytes[0] === LONG.charCodeAt(0) ? [bytes.toString('utf16le', 2)] : JSON.parse(bytes.toString())
    return { strings, length: bytes.length }
  }

  /** Returns a page and marks it as the most recently used. */
  function pageOf(number: number): Page {
    const known = kept.get(number)
    const found = known ?? loadPage(number)
    if (known === undefined) keptLength += found.length
    else kept.delete(number)
    kept.set(number, found)
    for (const [oldest, { length }] of kept) {
      if (keptLength <= KEPT_LENGTH || oldest === number) break
      kept.delete(oldest)
      keptLength -= length
    }
    return found
  }

  return { get: pageOf }
}

/** Reads the part with the shared strings. Runs of rich text are joined; phonetic hints are left out. */
export async function readSharedStrings(
  zip: ZipArchive,
  part: string,
  strings: SharedStrings,
): Promise<void> {
  let text = ''
  let inText = false
  let inPhonetic = false
  const events = {
    open(name: string) {
      if (name === 'si') text = ''
      else if (name === 't') inText = !inPhonetic
      else if (name === 'rPh') inPhonetic = true
    },
    text(piece: string) {
      if (!inText) return
      text += piece
      if (text.length > MAX_LENGTH) throw new FileFault('The workbook has a text that is longer than 1 MB')
    },
    close(name: string) {
      if (name === 't') inText = false
      else if (name === 'rPh') inPhonetic = false
      else if (name === 'si') strings.add(unescapeText(text))
    },
  }
  for await (const _block of scanPart(zip, part, events, MAX_PART_BYTES)) await strings.flush()
  await strings.flush('all')
}
