import { textOf } from '../catalog/chain/references.ts'

export type Column = { name: string; place: number }

/** Names of columns by a row of headers: those without one are left out, and of two with one name the second is numbered. */
export function nameHeaders(cells: readonly unknown[]): Column[] {
  const taken = new Set<string>()
  /** The numbers that names have come to: looking for a free one from the start would take for ever with many. */
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
