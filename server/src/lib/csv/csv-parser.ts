import { FileFault, MAX_RECORD_BYTES } from './file-fault.ts'

const QUOTE = 34
const LF = 10
const CR = 13

export type CsvParser = {
  /** The rows that are complete with this text. */
  push(text: string): string[][]
  /** The last row, which need not end with a line break. */
  end(): string[][]
  /** What was pushed and is not yet part of a row, and the line it starts in. */
  rest(): { text: string; line: number }
}

/**
 * Comma separated values as programs really write them: any line break, also several kinds in one file; quoted fields with
 * delimiters, quotes and line breaks in them; quotes inside a bare field are text, and so is what follows a closing quote.
 */
export function createCsvParser(delimiter: string, firstLine = 1): CsvParser {
  const separator = delimiter.charCodeAt(0)
  let text = ''
  let line = firstLine
  /** Pieces that are awaited before a long row is looked at again, so that this costs no more than reading it twice. */
  let enough = 0
  let awaited: string[] = []
  let awaitedLength = 0

  function endOfField(from: number): number {
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === separator || code === LF || code === CR) return at
    }
    return text.length
  }

  /** The place of the quote that closes the one at `open`; -1 when it is not there or its successor decides. */
  function closingQuote(open: number, final: boolean): number {
    for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 2)) {
      if (at + 1 === text.length) return final ? at : -1
      if (text.charCodeAt(at + 1) !== QUOTE) return at
    }
    return -1
  }

  /** Reads the row at `start`; answers where the next one starts, or -1 when this one is not complete. */
  function readRow(start: number, fields: string[], final: boolean): number {
    let at = start
    let breaks = 1
    for (;;) {
      let field = ''
      if (text.charCodeAt(at) === QUOTE) {
        const close = closingQuote(at, final)
        if (close === -1) {
          if (final) throw new FileFault(unclosed(line + countBreaks(text.slice(start, at))))
          return -1
        }
        field = text.slice(at + 1, close)
        breaks += countBreaks(field)
        if (field.includes('"')) field = field.replaceAll('""', '"')
        at = close + 1
      }
      const stop = endOfField(at)
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
    enough = text.length
    if (text.length > MAX_RECORD_BYTES) throw new FileFault(tooLong(line, text))
    return rows
  }

  return {
    push(more) {
      awaited.push(more)
      awaitedLength += more.length
      return awaitedLength < enough && text.length + awaitedLength <= MAX_RECORD_BYTES ? [] : readRows(false)
    },
    end: () => readRows(true),
    rest: () => ({ text: text + awaited.join(''), line }),
  }
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
