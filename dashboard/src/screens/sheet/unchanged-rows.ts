import type { Row } from '../../api/sheet.ts'

/** Returns the new row, but keeps the old objects for everything that is unchanged, down to the cell, so that React does not redraw them. */
export function keepUnchanged(before: Row | undefined, after: Row): Row {
  if (before === undefined || before.row_id !== after.row_id) return after
  let changed = JSON.stringify(before.inputs) !== JSON.stringify(after.inputs)
  const cells = Object.fromEntries(
    Object.entries(after.cells).map(([id, cell]) => {
      const old = before.cells[id]
      const isSame = old !== undefined && JSON.stringify(old) === JSON.stringify(cell)
      if (!isSame) changed = true
      return [id, isSame ? old : cell]
    }),
  )
  if (Object.keys(before.cells).length !== Object.keys(cells).length) changed = true
  return changed ? { ...after, cells } : before
}
