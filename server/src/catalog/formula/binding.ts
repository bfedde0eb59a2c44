import type { Template } from '../chain/references.ts'

/** The variable of a token: its value, or its text if the token stands inside a string. */
export type Binding = { source: string; as: 'value' | 'text' }

export type Bound = { ok: true; code: string; bindings: Binding[] } | { ok: false; message: string }

export const variableName = (place: number): string => `__v${place}`

type Mode = 'code' | "'" | '"' | '`' | 'line comment' | 'block comment' | 'regex' | 'regex class'

/** Matches code after which a slash begins a regular expression. After anything else a slash divides. */
const BEFORE_REGEX =
  /(?:^|[([{,;=:?!&|+\-*%^~<>]|(?<![\w$.])(?:return|typeof|case|void|delete|in|of|new|instanceof))\s?$/

/**
 * Returns the expression as JavaScript with a variable in the place of each token. Only the author's own text becomes
 * code; row data never does. The author's text is read just far enough to know if a token stands in code, in a string or
 * in a comment.
 */
export function bindTokens(template: Template): Bound {
  const bindings: Binding[] = []
  const lexer = new Lexer()
  for (const part of template) {
    if (part.kind === 'text') {
      lexer.read(part.text)
      continue
    }
    const { mode } = lexer
    if (mode === 'regex' || mode === 'regex class') {
      const message = `${part.source} stands inside a regular expression; use new RegExp(${part.source})`
      return { ok: false, message }
    }
    if (mode === 'line comment' || mode === 'block comment') continue
    const variable = variableName(bindings.length)
    bindings.push({ source: part.source, as: mode === 'code' ? 'value' : 'text' })
    lexer.place(variable)
  }
  return { ok: true, code: lexer.code(), bindings }
}

class Lexer {
  readonly #output: string[] = []
  #mode: Mode = 'code'
  /** One entry for each open `${`: the number of braces that are open inside it. */
  readonly #holes: number[] = []
  /** The start of the open string, and whether the string was split for a variable. */
  #quote = { at: 0, split: false }
  #before = ''

  get mode(): Mode {
    return this.#mode
  }

  read(text: string): void {
    for (let at = 0; at < text.length;) {
      const char = text[at] ?? ''
      const next = text[at + 1] ?? ''
      at += this.#mode === 'code' ? this.#readCode(char, next) : this.#readInside(char, next)
    }
  }

  /**
   * Inserts a variable at the current position. A quoted string is split, and brackets around all its parts keep them
   * together.
   */
  place(variable: string): void {
    const mode = this.#mode
    if (mode === '`') this.#output.push(`\${${variable}}`)
    else if (mode === "'" || mode === '"') {
      this.#quote.split = true
      this.#output.push(`${mode} + ${variable} + ${mode}`)
    } else {
      this.#output.push(` ${variable} `)
      this.#before = ')'
    }
  }

  code(): string {
    return this.#output.join('')
  }

  #enter(next: Mode, text: string): void {
    this.#mode = next
    this.#output.push(text)
  }

  #readCode(char: string, next: string): number {
    if (char === '/' && (next === '/' || next === '*')) {
      this.#enter(next === '/' ? 'line comment' : 'block comment', char + next)
      return 2
    }
    if (char === '/' && BEFORE_REGEX.test(this.#before)) this.#enter('regex', char)
    else if (char === "'" || char === '"') {
      this.#quote = { at: this.#output.length, split: false }
      this.#enter(char, char)
    } else if (char === '`') this.#enter('`', char)
    else if (char === '}' && this.#holes.at(-1) === 0) {
      this.#holes.pop()
      this.#enter('`', char)
    } else {
      this.#countBrace(char)
      this.#output.push(char)
    }
    if (char.trim() !== '') this.#before = (this.#before + char).slice(-12)
    else if (!this.#before.endsWith(' ')) this.#before += ' '
    return 1
  }

  #countBrace(char: string): void {
    const open = this.#holes.pop()
    if (open !== undefined) this.#holes.push(open + (char === '{' ? 1 : char === '}' ? -1 : 0))
  }

  #readInside(char: string, next: string): number {
    const mode = this.#mode
    if (char === '\\' && mode !== 'line comment' && mode !== 'block comment') {
      this.#output.push(char + next)
      return 2
    }
    if (mode === 'line comment') this.#enter(char === '\n' ? 'code' : mode, char)
    else if (mode === 'block comment' && char === '*' && next === '/') {
      this.#enter('code', '*/')
      return 2
    } else if (mode === 'regex') {
      this.#enter(char === '[' ? 'regex class' : char === '/' ? 'code' : mode, char)
      this.#before = ')'
    } else if (mode === 'regex class') this.#enter(char === ']' ? 'regex' : mode, char)
    else if (mode === '`' && char === '$' && next === '{') {
      this.#holes.push(0)
      this.#enter('code', '${')
      this.#before = '{'
      return 2
    } else if (char === mode) this.#closeString(char)
    else this.#output.push(char)
    return 1
  }

  #closeString(char: string): void {
    const { at, split } = this.#quote
    const isSplit = this.#mode !== '`' && split
    if (isSplit) this.#output[at] = `(${this.#output[at] ?? ''}`
    this.#enter('code', isSplit ? `${char})` : char)
    this.#before = ')'
  }
}
