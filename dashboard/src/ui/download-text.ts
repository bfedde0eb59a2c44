/** Gives somebody a text as a file, made here. */
export function downloadText(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}

/** A line of CSV. What a spreadsheet would take for a formula gets an apostrophe in front. */
export function csvLine(values: readonly (string | number)[]): string {
  return values
    .map((value) => {
      const text =
        /^[=+\-@\t\r]/.test(String(value)) && typeof value === 'string' ? `'${value}` : String(value)
      return `"${text.replaceAll('"', '""')}"`
    })
    .join(',')
}
