/** A value as people read it: texts as they are, nothing as nothing, the rest as JSON, on several lines where `indent` says so. */
export function valueText(value: unknown, indent = 0): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value, null, indent)
}
