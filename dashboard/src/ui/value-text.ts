/** Formats a value for people: text unchanged, null as an empty text, anything else as JSON with the given indent. */
export function valueText(value: unknown, indent = 0): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value, null, indent)
}
