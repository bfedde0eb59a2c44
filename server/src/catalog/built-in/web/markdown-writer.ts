/** A block around the text that is written: an item of a list, a quotation or a heading. */
type Container = {
  /** The beginning of the first line. It is empty once it has been written. */
  marker: string
  /** The beginning of all other lines. */
  rest: string
}
/** An emphasis or a link around the text that is written. */
type Mark = { start: string; end: string; isOpen: boolean }

/** The marker of an item as wide as the lines after it are indented. */
export const WIDE_BULLET = '-   '
const HEADING = '# '

/**
 * Writes Markdown piece by piece. Line ends, markers and the starts of marks are written when text follows them, so
 * elements without text leave no trace. A mark is closed at the end of a block and opened again in the next one, since a
 * mark in Markdown does not extend over blocks.
 */
export class MarkdownWriter {
  readonly #maxLength: number
  #text = ''
  #blanks = ''
  /** The number of line ends that the next text needs before it. */
  #gap = 0
  /** The line ends come from `<br>`, not from blocks. */
  #isBreak = false
  #containers: Container[] = []
  /** The number of containers that were open all the time since the last text. */
  #kept = 0
  #marks: Mark[] = []
  /** The number of open elements that must stay on one line: headings and cells. */
  #singleLines = 0
  #isInRow = false
  #isLineStart = true
  /** Blanks are left out at the beginning of a line and of a cell. */
  #skipsBlanks = true

  constructor(maxLength: number) {
    this.#maxLength = maxLength
  }

  get text(): string {
    return this.#text
  }

  /** Returns true once the text is longer than the limit. What follows may be left out. */
  get isFull(): boolean {
    return this.#text.length > this.#maxLength
  }

  /** Returns true in a heading and in a cell, which have no room for lists, tables and code of several lines. */
  get isOnOneLine(): boolean {
    return this.#singleLines > 0
  }

  /** Adds text of a page: its blanks are joined, and characters with a meaning in Markdown are escaped. */
  addText(data: string): void {
    const begun = data.trimStart()
    if (begun.length < data.length) this.#addBlanks(data.slice(0, data.length - begun.length))
    if (begun === '') return
    const words = begun.trimEnd()
    this.#begin()
    const escaped = escapeText(joinBlanks(words))
    const beginsLine = this.#isLineStart && this.#marks.at(-1)?.isOpen !== false
    this.#put(beginsLine ? escapeLineStart(escaped) : escaped)
    if (words.length < begun.length) this.#addBlanks(begun.slice(words.length))
  }

  /** Adds Markdown that stands for one thing in a line: an image, a piece of code. */
  addPiece(markdown: string): void {
    this.#begin()
    this.#put(markdown)
  }

  /** Ends the line. A second break in a row ends the paragraph. */
  addBreak(): void {
    if (this.#gap > 0 && !this.#isBreak) return
    this.#isBreak = true
    this.#gap = Math.min(2, this.#gap + 1)
  }

  /** Begins or ends a block. One line end separates it from other text, or a blank line. */
  separate(gap: 1 | 2 = 2): void {
    this.#isBreak = false
    this.#gap = Math.max(this.#gap, gap)
    this.#kept = Math.min(this.#kept, this.#containers.length)
  }

  enter(marker: string, rest: string): void {
    this.#containers.push({ marker, rest })
  }

  leave(): void {
    this.#containers.pop()
    this.#kept = Math.min(this.#kept, this.#containers.length)
  }

  /** Begins a heading. Its text stays on one line. */
  enterHeading(level: number): void {
    this.enter(`${'#'.repeat(level)} `, '')
    this.#singleLines += 1
  }

  leaveHeading(): void {
    this.#singleLines -= 1
    this.leave()
  }

  startMark(start: string, end: string): void {
    this.#marks.push({ start, end, isOpen: false })
  }

  endMark(): void {
    const mark = this.#marks.pop()
    if (mark?.isOpen === true) this.#text += mark.end
  }

  /** Returns true if the next text is within a mark with this start. */
  hasMark(start: string): boolean {
    return this.#marks.some((mark) => mark.start === start)
  }

  /** Adds lines unchanged, in the blocks that are open. */
  addLines(lines: readonly string[]): void {
    for (const line of lines) {
      this.#startLine(line === '')
      this.#text += line
      this.separate(1)
      if (this.isFull) return
    }
  }

  /** Begins a row of a table on a line of its own. */
  startRow(): void {
    this.#startLine()
    this.#text += '|'
    this.#isInRow = true
    this.#singleLines += 1
  }

  endRow(): void {
    this.#singleLines -= 1
    this.#isInRow = false
    this.separate(1)
  }

  startCell(): void {
    this.#text += ' '
    this.#forgetBlanks()
  }

  endCell(): void {
    this.#closeMarks()
    this.#text += ' |'
    this.#forgetBlanks()
  }

  #forgetBlanks(): void {
    this.#blanks = ''
    this.#gap = 0
    this.#skipsBlanks = true
  }

  /** Hard blanks are kept only if they stand alone. */
  #addBlanks(blanks: string): void {
    this.#blanks = this.#blanks === '' && blanks === '\u00a0' ? blanks : ' '
  }

  /** Writes what separates the next text from the text before it. */
  #begin(): void {
    const isNewLine = this.#gap > 0 || this.#text === ''
    if (isNewLine && !this.#isWithinLine()) this.#startLine()
    else if (isNewLine) this.#continueLine()
    else if (!this.#skipsBlanks) this.#text += this.#blanks
    this.#blanks = ''
  }

  /** Returns true if the line must not end here. A heading whose marker has not been written begins a line. */
  #isWithinLine(): boolean {
    if (this.#singleLines === 0) return false
    return this.#isInRow || !this.#containers.some(({ marker }) => marker.endsWith(HEADING))
  }

  #startLine(isEmpty = false): void {
    if (this.#gap > 1 || !this.#isBreak) this.#closeMarks()
    if (this.#text !== '') {
      if (this.#gap > 1) this.#text += `\n${cutBlanks(this.#restOf(this.#kept))}`
      this.#text += '\n'
    }
    let beginning = ''
    for (const container of this.#containers) {
      beginning += container.marker === '' ? container.rest : container.marker
      container.marker = ''
    }
    this.#text += isEmpty ? cutBlanks(beginning) : narrowLastBullet(beginning)
    this.#isLineStart = !beginning.endsWith(HEADING)
    this.#afterBeginning()
  }

  /** Joins a block to the line, since the line must not end. */
  #continueLine(): void {
    if (!this.#isBreak) this.#closeMarks()
    if (!this.#skipsBlanks) this.#text += ' '
    for (const container of this.#containers) {
      if (container.marker !== '') this.#text += `${container.marker.trimEnd()} `
      container.marker = ''
    }
    this.#afterBeginning()
  }

  #afterBeginning(): void {
    this.#gap = 0
    this.#isBreak = false
    this.#blanks = ''
    this.#skipsBlanks = true
    this.#kept = this.#containers.length
  }

  /** Returns the beginnings of a line in the outermost containers, after their first lines. */
  #restOf(count: number): string {
    let rest = ''
    for (let n = 0; n < count; n += 1) rest += this.#containers[n]?.rest ?? ''
    return rest
  }

  #put(piece: string): void {
    for (const mark of this.#marks) {
      if (!mark.isOpen) this.#text += mark.start
      mark.isOpen = true
    }
    this.#text += this.#isInRow ? piece.replaceAll('|', '/') : piece
    this.#isLineStart = false
    this.#skipsBlanks = false
  }

  #closeMarks(): void {
    for (const mark of this.#marks.toReversed()) {
      if (mark.isOpen) this.#text += mark.end
      mark.isOpen = false
    }
  }
}

/**
 * Narrows the marker before the text. The ones before it stay as wide as the later lines are indented: otherwise such a
 * line is indented by four columns more than its item, which makes it code.
 */
function narrowLastBullet(beginning: string): string {
  const at = beginning.lastIndexOf(WIDE_BULLET)
  return at < 0 ? beginning : `${beginning.slice(0, at)}- ${beginning.slice(at + WIDE_BULLET.length)}`
}

const NEEDS_JOINING = /\s\s|[\t\n\f\r]/

function joinBlanks(text: string): string {
  return NEEDS_JOINING.test(text) ? text.replace(/\s{2,}|[\t\n\f\r]/g, ' ') : text
}

const NEEDS_ESCAPES = /[\\*_`[\]]/

export function escapeText(text: string): string {
  return NEEDS_ESCAPES.test(text) ? text.replace(/[\\*_`[\]]/g, '\\$&') : text
}

/** Escapes what would begin a block of Markdown: a list, a heading, a quotation, a line under a heading, code. */
function escapeLineStart(text: string): string {
  return text.replace(/^(?:-|=|>|\+ |#{1,6} |~~~)/, '\\$&').replace(/^(\d+)\. /, '$1\\. ')
}

/** Cuts blanks at the end of a text, without a pattern: it would follow each run of blanks from each of its characters. */
export function cutBlanks(text: string): string {
  let end = text.length
  while (end > 0 && ' \t\u00a0'.includes(text[end - 1] ?? 'x')) end -= 1
  return text.slice(0, end)
}
