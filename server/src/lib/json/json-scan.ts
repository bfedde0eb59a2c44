export const QUOTE = 34
export const COMMA = 44
const BACKSLASH = 92
export const OPEN_ARRAY = 91
export const CLOSE_ARRAY = 93
export const OPEN_OBJECT = 123
export const CLOSE_OBJECT = 125

/**
 * The extent of a JSON text, measured without parsing it. `values` counts the containers and the values that
 * commas separate.
 */
export type JsonExtent = { deepest: number; values: number }

/** Measures a JSON text. Brackets and commas inside strings do not count. */
export function measureJson(text: string): JsonExtent {
  let depth = 0
  let deepest = 0
  let values = 1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at) - 1
    } else if (code === COMMA) {
      values += 1
    } else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      depth += 1
      values += 1
      if (depth > deepest) deepest = depth
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) {
      depth -= 1
    }
  }
  return { deepest, values }
}

/** Counts the opening brackets, including those inside strings. */
export function countOpened(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === OPEN_ARRAY || code === OPEN_OBJECT) count += 1
  }
  return count
}

/**
 * Returns the end of the string that starts here: the position after its closing quote, or the end of the
 * text.
 */
export function endOfString(text: string, start: number): number {
  // indexOf searches many bytes at a time, and most quotes do end a string.
  let at = text.indexOf('"', start + 1)
  while (at !== -1 && isEscaped(text, at, start)) at = text.indexOf('"', at + 1)
  return at === -1 ? text.length : at + 1
}

/**
 * Returns true if the character at `at` has an odd number of backslashes before it, counted back to the start
 * of the string.
 */
export function isEscaped(text: string, at: number, start: number): boolean {
  let before = at - 1
  while (before > start && text.charCodeAt(before) === BACKSLASH) before -= 1
  return (at - 1 - before) % 2 === 1
}

/**
 * Returns the end of the value that starts here, assuming that the text is JSON. The later parse checks
 * whether it is.
 */
export function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start)
  if (first === QUOTE) return endOfString(text, start)
  return first === OPEN_ARRAY || first === OPEN_OBJECT
    ? endOfContainer(text, start)
    : endOfScalar(text, start)
}

function endOfContainer(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at) - 1
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) depth += 1
    else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return text.length
}

function endOfScalar(text: string, start: number): number {
  let at = start
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === COMMA || code === CLOSE_ARRAY || code === CLOSE_OBJECT || isBlank(code)) break
    at += 1
  }
  return at
}

export function skipBlanks(text: string, start: number): number {
  let at = start
  while (at < text.length && isBlank(text.charCodeAt(at))) at += 1
  return at
}

/** Returns true for the blanks that JSON allows between its tokens. */
export function isBlank(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9
}
