/** Matches characters that begin a formula: = + - @, tab, carriage return, line feed, and the wide forms of the first four (D42). */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/u
/** Matches numbers and telephone numbers, which a spreadsheet does not run. */
const HARMLESS = /^[+-][0-9 ().,-]*([eE][+-]?[0-9]+)?%?$/

/** Matches a separator before a formula, for programs that split cells at semicolons or tabs, also where a quote opens the cell. */
const INNER_FORMULA =
  /([;\t\r\n][ "]*)(?=[=+@\uff1d\uff0b\uff0d\uff20-])(?![+-][0-9 ().,-]*([eE][+-]?[0-9]+)?%?([;\t\r\n]|$))/gu

/** Matches characters that separate or end cells in some locale. */
const NEEDS_QUOTES = /[",;\t\r\n]/

/** Returns the text with an apostrophe before each part that a spreadsheet would run as a formula. */
export function defuseFormulas(text: string): string {
  const first = FORMULA.test(text) && !HARMLESS.test(text) ? `'${text}` : text
  return first.replace(INNER_FORMULA, "$1'")
}

/** Returns a cell for a text table, quoted if a spreadsheet in any locale would split it. */
export function quoteCell(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
