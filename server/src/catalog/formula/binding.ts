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
  const lexer = createLexer()
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

function createLexer() {
  const output: string[] = []
  let mode: Mode = 'code'
  /** One entry for each open `${`: the number of braces that are open inside it. */
  const holes: number[] = []
  /** The start of the open string, and whether the string was split for a variable. */
  let quote = { at: 0, split: false }
  let before = ''

  function enter(next: Mode, text: string): void {
    mode = next
    output.push(text)
  }

  function readCode(char: string, next: string): number {
    if (char === '/' && (next === '/' || next === '*')) {
      enter(next === '/' ? 'line comment' : 'block comment', char + next)
      return 2
    }
    if (char === '/' && BEFORE_REGEX.test(before)) enter('regex', char)
    else if (char === "'" || char === '"') {
      quote = { at: output.length, split: false }
      enter(char, char)
    } else if (char === '`') enter('`', char)
    else if (char === '}' && holes.at(-1) === 0) {
      holes.pop()
      enter('`', char)
    } else {
      countBrace(char)
      output.push(char)
    }
    if (char.trim() !== '') before = (before + char).slice(-12)
    else if (!before.endsWith(' ')) before += ' '
    return 1
  }

  function countBrace(char: string): void {
    const open = holes.pop()
    if (open !== undefined) holes.push(open + (char === '{' ? 1 : char === '}' ? -1 : 0))
  }

  function readInside(char: string, next: string): number {
    if (char === '\\' && mode !== 'line comment' && mode !== 'block comment') {
      output.push(char + next)
      return 2
    }
    if (mode === 'line comment') enter(char === '\n' ? 'code' : mode, char)
    else if (mode === 'block comment' && char === '*' && next === '/') {
      enter('code', '*/')
      return 2
    } else if (mode === 'regex') {
      enter(char === '[' ? 'regex class' : char === '/' ? 'code' : mode, char)
      before = ')'
    } else if (mode === 'regex class') enter(char === ']' ? 'regex' : mode, char)
    else if (mode === '`' && char === '$' && next === '{') {
      holes.push(0)
      enter('code', '${')
      before = '{'
      return 2
    } else if (char === mode) closeString(char)
    else output.push(char)
    return 1
  }

  function closeString(char: string): void {
    const split = mode !== '`' && quote.split
    if (split) output[quote.at] = `(${output[quote.at] ?? ''}`
    enter('code', split ? `${char})` : char)
    before = ')'
  }

  return {
    get mode(): Mode {
      return mode
    },
    read(text: string): void {
      for (let at = 0; at < text.length;) {
        const char = text[at] ?? ''
        const next = text[at + 1] ?? ''
        at += mode === 'code' ? readCode(char, next) : readInside(char, next)
      }
    },
    /**
     * Inserts a variable at the current position. A quoted string is split, and brackets around all its parts keep them
     * together.
     */
    place(variable: string): void {
      if (mode === '`') output.push(`\${${variable}}`)
      else if (mode === "'" || mode === '"') {
        quote.split = true
        output.push(`${mode} + ${variable} + ${mode}`)
      } else {
        output.push(` ${variable} `)
        before = ')'
      }
    },
    code: () => output.join(''),
  }
}
