import { defuseFormulas, quoteCell } from '#contract/table-text.ts'

/** Parses clipboard text of a spreadsheet into lines of cells. Cells are separated by tabs; a cell with a tab, line break or quote is quoted. */
export function parseTsv(text: string): string[][] {
  const lines: string[][] = [[]]
  let cell = ''
  let isQuoted = false
  let isStart = true
  const endCell = () => {
    lines.at(-1)?.push(cell)
    cell = ''
    isStart = true
  }
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (isQuoted) {
      if (character !== '"') cell += character
      else if (text[at + 1] === '"') {
        cell += '"'
        at += 1
      } else isQuoted = false
    } else if (character === '"' && isStart) {
      isQuoted = true
      isStart = false
    } else if (character === '\t') endCell()
    else if (character === '\n' || character === '\r') {
      if (character === '\r' && text[at + 1] === '\n') at += 1
      endCell()
      lines.push([])
    } else {
      cell += character
      isStart = false
    }
  }
  endCell()
  const last = lines.at(-1)
  if (last?.length === 1 && last[0] === '') lines.pop()
  return lines
}

/** Returns the lines as text that `parseTsv` reads back unchanged. */
export function printTsv(lines: readonly (readonly string[])[]): string {
  return lines.map((line) => line.map(quoteCell).join('\t')).join('\n')
}

/** Returns the lines as text for spreadsheets, with formulas defused, because a spreadsheet would run them. */
export function printDefused(lines: readonly (readonly string[])[]): string {
  return printTsv(lines.map((line) => line.map(defuseFormulas)))
}
