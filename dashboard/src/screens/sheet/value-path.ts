/** A path into the outputs of a cell: names of fields, and places in lists. */
export type ValuePath = readonly (string | number)[]

/** Returns a path as people read it: `tech › 0 › name`. */
export const printPath = (path: ValuePath): string => path.join(' › ')

/** Returns the reference to the value at a path, or null if a name in it cannot be written in one. */
export function tokenOf(action: string, path: ValuePath): string | null {
  if (path.some((step) => typeof step === 'string' && !/^[^.[\]{}\s]+$/.test(step))) return null
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
  return `{{${action}${steps.join('')}}}`
}

export type ValueLine = {
  path: ValuePath
  /** The path as text, by which the line is found. */
  key: string
  level: number
  text: string
  value: unknown
  hasChildren: boolean
}

/** The maximum number of lines in the tree. The rest can be read as JSON. */
const MAX_LINES = 500

/** Returns the lines of the tree. Branches that do not contain the search words, in a path or a value, are omitted. */
export function buildLines(value: unknown, words: string): ValueLine[] {
  const lines: ValueLine[] = []
  const visit = (one: unknown, path: ValuePath): boolean => {
    if (lines.length >= MAX_LINES) return false
    const at = lines.length
    const entries = entriesOf(one)
    const key = printPath(path)
    const text = entries.length > 0 ? summarize(one, entries.length) : printLeaf(one)
    lines.push({ path, key, level: path.length, text, value: one, hasChildren: entries.length > 0 })
    let isFound = `${key} ${entries.length > 0 ? '' : text}`.toLowerCase().includes(words)
    for (const [name, child] of entries) isFound = visit(child, [...path, name]) || isFound
    if (!isFound) lines.length = at
    return isFound
  }
  const entries = entriesOf(value)
  if (entries.length === 0 && typeof value !== 'object') visit(value, ['value'])
  for (const [name, child] of entries) visit(child, [name])
  return lines
}

function entriesOf(value: unknown): [string | number, unknown][] {
  if (Array.isArray(value)) return value.map((item: unknown, place) => [place, item])
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

const summarize = (value: unknown, count: number) =>
  Array.isArray(value)
    ? `${count} ${count === 1 ? 'item' : 'items'}`
    : `${count} ${count === 1 ? 'field' : 'fields'}`

function printLeaf(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'empty'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
