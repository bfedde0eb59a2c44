import { defuseFormulas, quoteCell } from '#contract/table-text.ts'

/**
 * Writes a table as RFC 4180 describes it, with a header line. A text that a spreadsheet would run as a
 * formula gets a leading apostrophe.
 */
export function writeCsv(
  names: readonly string[],
  records: readonly Readonly<Record<string, string | number | null>>[],
): string {
  const lines = records.map((record) => names.map((name) => formatField(record[name] ?? '')).join(','))
  return [names.map(quoteCell).join(','), ...lines, ''].join('\r\n')
}

function formatField(value: string | number): string {
  return quoteCell(typeof value === 'string' ? defuseFormulas(value) : String(value))
}
