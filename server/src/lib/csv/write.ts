/** = + - @, tab, carriage return, line feed, and the wide forms of the first four begin a formula (D42). */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/u
/** Numbers and telephone numbers run nothing. */
const HARMLESS = /^[+-][0-9 ().,-]*([eE][+-]?[0-9]+)?%?$/

/** The same behind what separates cells for a reader that expects semicolons or tabs. */
const INNER_FORMULA =
  /([;\t\r\n] *)(?=[=+@\uff1d\uff0b\uff0d\uff20-])(?![+-][0-9 ().,-]*([eE][+-]?[0-9]+)?%?([;\t\r\n]|$))/gu

/** A table as RFC 4180 has it, with a line of names. Texts that a spreadsheet would run get an apostrophe in front. */
export function writeCsv(
  names: readonly string[],
  records: readonly Readonly<Record<string, string | number | null>>[],
): string {
  const lines = records.map((record) => names.map((name) => fieldOf(record[name] ?? '')).join(','))
  return [names.join(','), ...lines, ''].join('\r\n')
}

function fieldOf(value: string | number): string {
  const text = String(value)
  const defused = typeof value === 'string' ? defuse(text) : text
  return /[",\r\n]/.test(defused) ? `"${defused.replaceAll('"', '""')}"` : defused
}

function defuse(text: string): string {
  const first = FORMULA.test(text) && !HARMLESS.test(text) ? `'${text}` : text
  return first.replace(INNER_FORMULA, "$1'")
}
