import { post, request } from '../../api/client.ts'
import type { Row } from '../../api/sheet.ts'
import { notify, notifyProblem } from '../../ui/toasts.tsx'
import type { SheetView } from './sheet-view.ts'

export type RowEdit = { row_id: string; inputs: Record<string, unknown> }

const MAX_ROWS_PER_ADD = 1000
const MAX_IDS_PER_CALL = 200

export const plural = (count: number, noun: string) =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`

type Added = {
  row_ids: string[]
  rejected: { index: number; errors: { field: string; message: string }[] }[]
}

/** Shown at once, then written; what the server refuses is put back and said. */
export async function editRows(view: SheetView, edits: readonly RowEdit[]): Promise<boolean> {
  const before = edits.map(({ row_id, inputs }) => ({ row_id, inputs: view.rows.patch(row_id, inputs) }))
  const isWritten = await writeEdits(view, edits, before)
  if (isWritten) {
    view.history.getState().push({
      name: 'edit',
      undo: () => writeAgain(view, before, edits),
      redo: () => writeAgain(view, edits, before),
    })
  }
  return isWritten
}

async function writeAgain(
  view: SheetView,
  edits: readonly RowEdit[],
  before: readonly RowEdit[],
): Promise<void> {
  for (const { row_id, inputs } of edits) view.rows.patch(row_id, inputs)
  await writeEdits(view, edits, before)
}

async function writeEdits(
  view: SheetView,
  edits: readonly RowEdit[],
  before: readonly RowEdit[],
): Promise<boolean> {
  try {
    for (const part of chunks(edits, MAX_IDS_PER_CALL)) {
      await request('PATCH', `/internal${view.path}/rows`, { rows: part })
    }
    return true
  } catch (error) {
    for (const { row_id, inputs } of before) view.rows.patch(row_id, inputs)
    notifyProblem(error)
    return false
  } finally {
    view.refresh()
  }
}

/** At the end of the sheet. Rows that are refused are named; the rest is there. */
export async function addRows(view: SheetView, rows: readonly Record<string, unknown>[]): Promise<string[]> {
  const ids: string[] = []
  try {
    for (const part of chunks(rows, MAX_ROWS_PER_ADD)) {
      const { row_ids, rejected } = await post<Added>(`${view.path}/rows`, { rows: part })
      ids.push(...row_ids)
      const [first] = rejected
      if (first !== undefined) {
        const reasons = first.errors.map(({ field, message }) => `${field}: ${message}`).join('; ')
        notifyProblem(
          `${plural(rejected.length, 'row')} rejected; the first (line ${first.index + 1}): ${reasons}`,
        )
      }
    }
  } catch (error) {
    notifyProblem(error)
  }
  if (ids.length > 0) {
    const undo = () => removeRows(view, ids)
    const redo = () => restoreRows(view, ids)
    view.history.getState().push({ name: 'add rows', undo, redo })
    notify(`${plural(ids.length, 'row')} added`, {
      label: 'Undo',
      run: () => void view.history.getState().undo(),
    })
  }
  view.refresh()
  return ids
}

export async function deleteRows(view: SheetView, ids: readonly string[]): Promise<void> {
  try {
    await removeRows(view, ids)
  } catch (error) {
    notifyProblem(error)
    return
  }
  const undo = () => restoreRows(view, ids)
  const redo = () => removeRows(view, ids)
  view.history.getState().push({ name: 'delete rows', undo, redo })
  notify(`${plural(ids.length, 'row')} deleted`, {
    label: 'Undo',
    run: () => void view.history.getState().undo(),
  })
}

async function removeRows(view: SheetView, ids: readonly string[]): Promise<void> {
  try {
    for (const row_ids of chunks(ids, MAX_IDS_PER_CALL))
      await post(`/internal${view.path}/rows/delete`, { row_ids })
  } finally {
    view.refresh()
  }
}

async function restoreRows(view: SheetView, ids: readonly string[]): Promise<void> {
  try {
    for (const row_ids of chunks(ids, MAX_IDS_PER_CALL)) {
      await post(`/internal${view.path}/rows/restore`, { row_ids })
    }
  } catch (error) {
    notifyProblem(error)
  } finally {
    view.refresh()
  }
}

/** Ids of the selected rows: those chosen one by one, or all that are shown but those left out. */
export async function selectedIds(view: SheetView): Promise<string[]> {
  const { all, ids } = view.state.getState().selected
  if (!all) return [...ids]
  const total = view.rows.total ?? 0
  const rows: Row[] = total === 0 ? [] : await view.rows.range(0, total - 1)
  return rows.map(({ row_id }) => row_id).filter((id) => !ids.has(id))
}

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  )
}
