import { defuseFormulas, quoteCell } from '#contract/table-text.ts'

/** A table as RFC 4180 has it, with a line of names. Texts that a spreadsheet would run get an apostrophe in front. */
export function writeCsv(
  names: readonly string[],
  records: readonly Readonly<Record<string, string | number | null>>[],
): string {
  const lines = records.map((record) => names.map((name) => fieldOf(record[name] ?? '')).join(','))
  return [names.map(quoteCell).join(','), ...lines, ''].join('\r\n')
}

function fieldOf(value: string | number): string {
  return quoteCell(typeof value === 'string' ? defuseFormulas(value) : String(value))
}
