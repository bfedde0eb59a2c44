import { textOf } from '../chain/references.ts'

export type Column = { name: string; place: number }

/** Names of columns by a row of headers: those without one are left out, and of two with one name the second is numbered. */
export function nameHeaders(cells: readonly unknown[]): Column[] {
  const taken = new Set<string>()
  return cells.flatMap((cell, place) => {
    const text = textOf(cell).trim()
    if (text === '') return []
    let name = text
    for (let n = 2; taken.has(name); n += 1) name = `${text} ${n}`
    taken.add(name)
    return [{ name, place }]
  })
}
