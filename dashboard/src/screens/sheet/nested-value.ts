/** The longest text that is read as JSON: the grid would read longer ones again and again. */
const MAX_CHARACTERS = 10_000

/** Returns the object or list that a text holds as JSON, as formulas return them, and anything else as it is. */
export function readNested(value: unknown): unknown {
  if (typeof value !== 'string' || value.length > MAX_CHARACTERS || !/^\s*[[{]/.test(value)) return value
  try {
    const read: unknown = JSON.parse(value)
    return typeof read === 'object' ? read : value
  } catch {
    // A text that only begins like JSON is a text.
    return value
  }
}
