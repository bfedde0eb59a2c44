import { readSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { FileFault } from '../../lib/csv/file-fault.ts'
import { unescapeText } from './xlsx-values.ts'
import { scanPart } from './xlsx-workbook.ts'
import { damaged, type ZipArchive } from './zip-archive.ts'

/** Strings are kept in pages of this many; cells that follow each other mostly refer to the same page. */
const PAGE = 16
/** A page of more characters is closed, and a longer string has one of its own: one of them is read for a single cell. */
const PAGE_LENGTH = 16 * 1024
/** Excel's own limit is 32,767. */
const MAX_LENGTH = 1024 * 1024
const WRITE_BYTES = 1024 * 1024
/** Characters of the pages that stay in memory. */
const KEPT_LENGTH = 16 * 1024 * 1024
const MAX_PART_BYTES = 4 * 1024 * 1024 * 1024

/** Begins a page that is one long string as it is; one of JSON begins with a bracket. */
const LONG = 'U'

type Page = { strings: string[]; length: number }

/** The texts that the cells of a workbook share, on disk: there may be millions of them. */
export type SharedStrings = {
  add(text: string): void
  /** Writes what was added when it is enough to be worth it, or `all` of it. */
  flush(all?: 'all'): Promise<void>
  get(index: number): string
}

export function createSharedStrings(file: FileHandle): SharedStrings {
  const starts: number[] = [0]
  /** The first string of each page. */
  const firsts: number[] = []
  let page: string[] = []
  let pageLength = 0
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let count = 0

  const kept = new Map<number, Page>()
  let keptLength = 0

  function closePage(): void {
    if (page.length === 0) return
    // A long one is not written as JSON, which would have to be parsed for each cell that refers to it.
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

  /** The page that holds a string. */
  function pageWith(index: number): number {
    let [low, high] = [0, firsts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((firsts[middle] ?? 0) <= index) low = middle
      else high = middle - 1
    }
    return low
  }

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

  /** The page, which is then the last to be given up. */
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
      return pageOf(found).strings[index - (firsts[found] ?? 0)] ?? ''
    },
  }
}

/** Reads the part that holds them. Runs of rich text are joined; reading aids are left out. */
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
