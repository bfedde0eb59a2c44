const USES_BEFORE_NAMED = 10
const MAX_NAMED = 100
const MAX_COUNTED = 1000

/**
 * Names for the statements that come again and again: the server keeps the plan of a named one, which is half of the
 * time of a small read. Texts that vary stay without a name, so what each connection keeps is bounded.
 */
export function createStatementNames(): (text: string) => string | undefined {
  const names = new Map<string, string>()
  const uses = new Map<string, number>()
  return (text) => {
    const known = names.get(text)
    if (known !== undefined || names.size >= MAX_NAMED) return known
    const count = (uses.get(text) ?? 0) + 1
    if (count <= USES_BEFORE_NAMED) {
      if (uses.size >= MAX_COUNTED) uses.clear()
      uses.set(text, count)
      return undefined
    }
    uses.delete(text)
    const name = `loam-${names.size}`
    names.set(text, name)
    return name
  }
}
