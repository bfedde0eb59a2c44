import { textOf } from '../catalog/chain/references.ts'

export type Column = { name: string; place: number }

/**
 * Names columns by a header row. Columns without a header are left out; the second of two equal names gets a number.
 */
export function nameHeaders(cells: readonly unknown[]): Column[] {
  const taken = new Set<string>()
  /**
   * The next number to try for each name. Searching for a free number from the start would take too long with many
   * equal names.
   */
  const numbers = new Map<string, number>()
  return cells.flatMap((cell, place) => {
    const text = textOf(cell).trim()
    if (text === '') return []
    let name = text
    for (let n = numbers.get(text) ?? 2; taken.has(name); n += 1) {
      name = `${text} ${n}`
      numbers.set(text, n + 1)
    }
    taken.add(name)
    return [{ name, place }]
  })
}
