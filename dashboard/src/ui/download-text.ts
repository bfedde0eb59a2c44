/** Downloads a text as a file that is created in the browser. */
export function downloadText(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}

/** Returns a line of CSV. A text that a spreadsheet would read as a formula is prefixed with an apostrophe. */
export function csvLine(values: readonly (string | number)[]): string {
  return values
    .map((value) => {
      const text =
        /^[=+\-@\t\r]/.test(String(value)) && typeof value === 'string' ? `'${value}` : String(value)
      return `"${text.replaceAll('"', '""')}"`
    })
    .join(',')
}
