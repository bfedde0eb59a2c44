/** A part of a formula: what it is, and its place. */
export type Piece = {
  kind: 'value' | 'name' | 'operator' | 'open' | 'close' | 'keyword' | 'comment' | 'broken'
  text: string
  from: number
  to: number
}

export type FormulaFault = { from: number; to: number; message: string }

const TOKEN = /\{\{[^{}]*\}\}/y
const PIECES: readonly [Piece['kind'], RegExp][] = [
  ['comment', /\/\/[^\n]*|\/\*[\s\S]*?\*\//y],
  ['value', TOKEN],
  ['value', /"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'/y],
  ['value', /(?:0[xXbBoO][\da-fA-F_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)n?/y],
  ['name', /[\p{ID_Start}$_#][\p{ID_Continue}$\u200c\u200d]*/uy],
  [
    'operator',
    /=>|\.\.\.|\?\.|\?\?=?|&&=?|\|\|=?|===?|!==?|<<=?|>>>?=?|<=|>=|\+\+|--|\*\*=?|[-+*/%&|^]=?|[=<>!~?:,;.]/y,
  ],
  ['open', /[([{]/y],
  ['close', /[)\]}]/y],
]
const REGEX = /\/(?![*/])(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y
const PREFIX_WORDS = new Set([
  'typeof',
  'void',
  'delete',
  'new',
  'await',
  'async',
  'yield',
  'return',
  'function',
  'class',
  'throw',
  'case',
])
const BETWEEN_WORDS = new Set(['in', 'instanceof', 'of', 'extends'])
const PARTNER: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }

const matchAt = (pattern: RegExp, text: string, at: number): string | undefined => {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

/** Cuts a formula into its parts. A text in backticks is one value, with what stands in it. */
export function cutFormula(text: string): Piece[] {
  const pieces: Piece[] = []
  for (let at = 0; at < text.length;) {
    const space = matchAt(/\s+/y, text, at)
    if (space !== undefined) {
      at += space.length
      continue
    }
    const piece = readPiece(text, at, endsValue(pieces.findLast(({ kind }) => kind !== 'comment')))
    pieces.push(piece)
    at = piece.to
  }
  return pieces
}

function readPiece(text: string, from: number, isAfterValue: boolean): Piece {
  const make = (kind: Piece['kind'], length: number): Piece => ({
    kind,
    text: text.slice(from, from + length),
    from,
    to: from + length,
  })
  if (text[from] === '`') {
    const end = endOfTemplate(text, from)
    return end === null ? make('broken', text.length - from) : make('value', end - from)
  }
  const expression = isAfterValue ? undefined : matchAt(REGEX, text, from)
  if (expression !== undefined) return make('value', expression.length)
  for (const [kind, pattern] of PIECES) {
    const found = matchAt(pattern, text, from)
    if (found === undefined || found === '') continue
    const isWord = kind === 'name' && (PREFIX_WORDS.has(found) || BETWEEN_WORDS.has(found))
    return make(isWord ? 'keyword' : kind, found.length)
  }
  const rest = /["']/.test(text[from] ?? '') ? /^[^\n]*/.exec(text.slice(from))?.[0].length : 1
  return make('broken', Math.max(1, rest ?? 1))
}

/** Returns the end of a text in backticks, whose `${...}` may hold further ones, or null if it does not end. */
function endOfTemplate(text: string, from: number): number | null {
  let at = from + 1
  while (at < text.length) {
    if (text[at] === '\\') at += 2
    else if (text[at] === '`') return at + 1
    else if (text.startsWith('${', at)) {
      const end = endOfHole(text, at + 2)
      if (end === null) return null
      at = end
    } else at += 1
  }
  return null
}

/** Returns the end of what stands between `${` and its brace, or null if a text in backticks in it does not end. */
function endOfHole(text: string, from: number): number | null {
  let at = from
  for (let depth = 1; at < text.length && depth > 0; at += 1) {
    if (text[at] === '{') depth += 1
    else if (text[at] === '}') depth -= 1
    else if (text[at] === '`') {
      const end = endOfTemplate(text, at)
      if (end === null) return null
      // The loop goes on behind the backtick that ends the text.
      at = end - 1
    }
  }
  return at
}

const endsValue = (piece: Piece | undefined): boolean =>
  piece !== undefined && (piece.kind === 'value' || piece.kind === 'name' || piece.kind === 'close')

/** Returns the first fault that can be told without running a formula, or null. It is silent where it cannot be sure. */
export function checkFormula(text: string): FormulaFault | null {
  const pieces = cutFormula(text).filter(({ kind }) => kind !== 'comment')
  const opened: Piece[] = []
  let last: Piece | undefined
  for (const piece of pieces) {
    const fault = faultOf(piece, last, opened)
    if (fault !== null) return { from: piece.from, to: piece.to, message: fault }
    if (piece.kind === 'open') opened.push(piece)
    if (piece.kind === 'close') opened.pop()
    last = piece
  }
  const open = opened.at(-1)
  if (open !== undefined) return { from: open.from, to: open.to, message: `${open.text} is never closed` }
  return isUnfinished(last)
    ? { from: last.from, to: last.to, message: `Something is missing after ${last.text}` }
    : null
}

function faultOf(piece: Piece, last: Piece | undefined, opened: readonly Piece[]): string | null {
  if (piece.kind === 'broken') return faultOfBroken(piece.text)
  if (piece.kind === 'close') {
    const open = opened.at(-1)
    if (open === undefined) return `${piece.text} closes nothing`
    if (open.text !== PARTNER[piece.text]) return `${piece.text} does not close ${open.text}`
    if (open.text !== '{' && !isWithinBraces(opened) && isUnfinished(last))
      return `Something is missing before ${piece.text}`
    return null
  }
  // Braces may hold statements, whose grammar is not read here.
  if (isWithinBraces(opened)) return null
  if ((piece.kind === 'value' || piece.kind === 'name') && endsValue(last) && !isTemplate(piece)) {
    return `An operator is missing before ${shorten(piece.text)}`
  }
  return null
}

const isWithinBraces = (opened: readonly Piece[]) => opened.some(({ text }) => text === '{')

/** Returns true for a text in backticks, which may follow any value: the value is then its tag. */
const isTemplate = ({ text }: Piece) => text.startsWith('`')

function faultOfBroken(text: string): string {
  if (/^["'`]/.test(text)) return `This text has no closing ${text.charAt(0)}`
  return `${shorten(text)} is not part of a formula`
}

/** Returns true if something must follow: an operator between two values, or a word such as `typeof`. */
function isUnfinished(piece: Piece | undefined): piece is Piece {
  if (piece === undefined) return false
  if (piece.kind === 'keyword') return true
  return piece.kind === 'operator' && !['++', '--', ';', ','].includes(piece.text)
}

const shorten = (text: string) => (text.length > 30 ? `${text.slice(0, 30)}…` : text)
