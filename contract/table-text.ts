/** = + - @, tab, carriage return, line feed, and the wide forms of the first four begin a formula (D42). */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/u
/** Numbers and telephone numbers run nothing. */
const HARMLESS = /^[+-][0-9 ().,-]*([eE][+-]?[0-9]+)?%?$/

/** The same behind what separates cells for a reader that expects semicolons or tabs, also where it takes a quote for the beginning of one. */
const INNER_FORMULA =
  /([;\t\r\n][ "]*)(?=[=+@\uff1d\uff0b\uff0d\uff20-])(?![+-][0-9 ().,-]*([eE][+-]?[0-9]+)?%?([;\t\r\n]|$))/gu

/** Matches characters that separate or end cells in some locale. */
const NEEDS_QUOTES = /[",;\t\r\n]/

/** The text with an apostrophe in front of whatever a spreadsheet would run as a formula. */
export function defuseFormulas(text: string): string {
  const first = FORMULA.test(text) && !HARMLESS.test(text) ? `'${text}` : text
  return first.replace(INNER_FORMULA, "$1'")
}

/** A cell of a table in text, in quotes where a spreadsheet of any locale would split it. */
export function quoteCell(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
