import { defuseFormulas, quoteCell } from '#contract/table-text.ts'

/** Returns a line of CSV in which no spreadsheet finds a formula (D42). */
export function csvLine(values: readonly (string | number)[]): string {
  return values.map((value) => quoteCell(defuseFormulas(String(value)))).join(',')
}
