import { FileFault, MAX_RECORD_BYTES } from './file-fault.ts'

const QUOTE = 34
const LF = 10
const CR = 13

export type CsvParser = {
  /** Returns the rows that this text completes. */
  push(text: string): string[][]
  /** Returns the last row, which does not have to end with a line break. */
  end(): string[][]
  /** Returns the text that is not yet part of a row, and the number of the line in which it starts. */
  rest(): { text: string; line: number }
}

/**
 * Parses comma separated values as programs really write them: any line break, also several kinds in one
 * file; quoted fields that contain delimiters, quotes and line breaks. Quotes inside an unquoted field are
 * text, and so is what follows a closing quote.
 */
export function createCsvParser(delimiter: string, firstLine = 1): CsvParser {
  const separator = delimiter.charCodeAt(0)
  let text = ''
  let line = firstLine
  /**
   * The number of characters to collect before an incomplete row is parsed again. This keeps the cost of a
   * long row at no more than parsing it twice.
   */
  let minLength = 0
  let awaited: string[] = []
  let awaitedLength = 0

  /** Reads the row at `start`. Returns the start of the next row, or -1 if this row is not complete. */
  function readRow(start: number, fields: string[], final: boolean): number {
    let at = start
    let breaks = 1
    for (;;) {
      let field = ''
      if (text.charCodeAt(at) === QUOTE) {
        const close = closingQuote(text, at, final)
        if (close === -1 && !final) return -1
        if (close === -1) throw new FileFault(unclosed(line + countBreaks(text.slice(start, at))))
        field = text.slice(at + 1, close)
        breaks += countBreaks(field)
        if (field.includes('"')) field = field.replaceAll('""', '"')
        at = close + 1
      }
      const stop = endOfField(text, at, separator)
      if (stop > at) field += text.slice(at, stop)
      at = stop
      if (at === text.length && !final) return -1
      fields.push(field)
      const code = text.charCodeAt(at)
      if (code === separator) {
        at += 1
        continue
      }
      if (code === CR && at + 1 === text.length && !final) return -1
      line += breaks
      return at + (code === CR && text.charCodeAt(at + 1) === LF ? 2 : 1)
    }
  }

  function readRows(final: boolean): string[][] {
    text += awaited.join('')
    awaited = []
    awaitedLength = 0
    const rows: string[][] = []
    let start = 0
    while (start < text.length) {
      const fields: string[] = []
      const next = readRow(start, fields, final)
      if (next === -1) break
      rows.push(fields)
      start = next
    }
    text = text.slice(start)
    minLength = text.length
    if (text.length > MAX_RECORD_BYTES) throw new FileFault(tooLong(line, text))
    return rows
  }

  return {
    push(more) {
      awaited.push(more)
      awaitedLength += more.length
      return awaitedLength < minLength && text.length + awaitedLength <= MAX_RECORD_BYTES
        ? []
        : readRows(false)
    },
    end: () => readRows(true),
    rest: () => ({ text: text + awaited.join(''), line }),
  }
}

/** Returns the position of the delimiter or line break that ends the field, or the end of the text. */
function endOfField(text: string, from: number, separator: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === separator || code === LF || code === CR) return at
  }
  return text.length
}

/**
 * Returns the position of the quote that closes the one at `open`. Returns -1 if the quote has not arrived
 * yet or if the next character decides.
 */
function closingQuote(text: string, open: number, final: boolean): number {
  for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 2)) {
    if (at + 1 === text.length) return final ? at : -1
    if (text.charCodeAt(at + 1) !== QUOTE) return at
  }
  return -1
}

export function countBreaks(text: string): number {
  if (!text.includes('\n') && !text.includes('\r')) return 0
  return text.match(/\r\n|\n|\r/g)?.length ?? 0
}

const unclosed = (line: number) => `The quote that opens a field in line ${line} is never closed`

export function tooLong(line: number, text = ''): string {
  const hint = text.includes('"') ? '; is a quote in it not closed?' : ''
  return `The record that starts in line ${line} is longer than ${MAX_RECORD_BYTES / 1024 / 1024} MB${hint}`
}
