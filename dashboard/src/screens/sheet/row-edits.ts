import type { RejectedRow } from '#contract/rows.ts'
import { type SheetBody, sheetCall } from '../../api/calls.ts'
import { fetchData, send } from '../../api/client.ts'
import { sendUntilReceived } from '../../api/outbox.ts'
import type { Row } from '../../api/sheet.ts'
import { plural } from '../../ui/figure.ts'
import { notify, notifyProblem } from '../../ui/toasts.tsx'
import type { Step } from './history.ts'
import type { SheetView } from './sheet-view.ts'
import { undoLast } from './undo.ts'

export type RowEdit = { row_id: string; inputs: Record<string, unknown> }

const MAX_ROWS_PER_ADD = 1000
/** The maximum number of rows in one edit: the most that the server keeps for undo. */
export const MAX_EDITED_ROWS = 10_000
const MAX_IDS_PER_CALL = 200

/** Shows edits at once and sends them as soon as the server can be reached. Rejected values are reverted and reported. */
export async function editRows(view: SheetView, edits: readonly RowEdit[]): Promise<boolean> {
  const [first = [], ...rest] = chunks(edits, MAX_EDITED_ROWS)
  if (rest.length > 0) return (await editRows(view, first)) && editRows(view, rest.flat())
  const release = view.rows.showTyped(edits)
  const { push, hold } = view.history.getState()
  const writing = writeEdits(view, edits).then((written) => {
    if (written.editId !== null) push(editStep(view, written.editId, `edit ${plural(edits.length, 'row')}`))
    return written
  })
  hold(writing)
  const { isWritten } = await writing
  if (!isWritten) release()
  // The typed values stay visible until the rows have been read from the server.
  await view.rows.refresh()
  release()
  view.refresh()
  return isWritten
}

/** Returns the undo step of an edit. The server keeps the former values, for every browser of this person. */
export function editStep(
  view: Pick<SheetView, 'sheet' | 'refresh'>,
  editId: string,
  name = 'edit values',
): Step {
  const revert = async (verb: 'undo' | 'redo') => {
    try {
      const params = { edit_id: editId }
      const { values_left } = await fetchData(
        verb === 'undo'
          ? sheetCall(view.sheet, 'POST /internal/edits/:edit_id/undo', { params })
          : sheetCall(view.sheet, 'POST /internal/edits/:edit_id/redo', { params }),
      )
      if (values_left > 0) notify(`Kept ${plural(values_left, 'value')} that changed since`)
    } finally {
      view.refresh()
    }
  }
  return { name, undo: () => revert('undo'), redo: () => revert('redo') }
}

async function writeEdits(
  view: SheetView,
  edits: readonly RowEdit[],
): Promise<{ editId: string | null; isWritten: boolean }> {
  let editId: string | null = null
  const rejected: RejectedRow[] = []
  try {
    for (const rows of chunks(edits, MAX_IDS_PER_CALL)) {
      const body = { rows, ...(editId === null ? {} : { edit_id: editId }) }
      const written = await sendEdit(view, body)
      editId = written.edit_id
      rejected.push(...written.rejected)
    }
  } catch (error) {
    notifyProblem(error)
    return { editId, isWritten: false }
  }
  const [first] = rejected
  if (first !== undefined) {
    const reasons = first.errors.map(({ field, message }) => `${field}: ${message}`).join('; ')
    notifyProblem(`${plural(rejected.length, 'row')} not changed. First error: ${reasons}`)
  }
  return { editId, isWritten: rejected.length < edits.length }
}

/** Sends a part of an edit. */
async function sendEdit({ sheet }: SheetView, body: SheetBody<'PATCH /internal/rows'>) {
  return (await sendUntilReceived(sheetCall(sheet, 'PATCH /internal/rows', { body }))).data
}

/** Adds rows at the end of the sheet. Rejected rows are reported; the others are added. */
export async function addRows(view: SheetView, rows: readonly Record<string, unknown>[]): Promise<string[]> {
  const ids: string[] = []
  try {
    for (const [at, part] of chunks(rows, MAX_ROWS_PER_ADD).entries()) {
      const { data } = await sendUntilReceived(sheetCall(view.sheet, 'POST /rows', { body: { rows: part } }))
      const { row_ids, rejected } = data
      ids.push(...row_ids)
      const [first] = rejected
      if (first !== undefined) {
        const reasons = first.errors.map(({ field, message }) => `${field}: ${message}`).join('; ')
        notifyProblem(
          `${plural(rejected.length, 'row')} rejected. First error (line ${at * MAX_ROWS_PER_ADD + first.index + 1}): ${reasons}`,
        )
      }
    }
  } catch (error) {
    notifyProblem(error)
  }
  if (ids.length > 0) {
    const undo = () => removeRows(view, ids)
    const redo = () => restoreRows(view, ids)
    view.history.getState().push({ name: `add ${plural(ids.length, 'row')}`, undo, redo })
    notify(`${plural(ids.length, 'row')} added`, {
      label: 'Undo',
      run: () => undoLast(view),
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
  view.history.getState().push({ name: `delete ${plural(ids.length, 'row')}`, undo, redo })
  notify(`${plural(ids.length, 'row')} deleted`, {
    label: 'Undo',
    run: () => undoLast(view),
  })
}

async function removeRows(view: SheetView, ids: readonly string[]): Promise<void> {
  try {
    for (const row_ids of chunks(ids, MAX_IDS_PER_CALL))
      await send(sheetCall(view.sheet, 'POST /internal/rows/delete', { body: { row_ids } }))
  } finally {
    view.refresh()
  }
}

async function restoreRows(view: SheetView, ids: readonly string[]): Promise<void> {
  try {
    for (const row_ids of chunks(ids, MAX_IDS_PER_CALL)) {
      await send(sheetCall(view.sheet, 'POST /internal/rows/restore', { body: { row_ids } }))
    }
  } catch (error) {
    notifyProblem(error)
  } finally {
    // Restored rows have no place in a sorted order that was made without them.
    view.rows.sortAgain()
    view.refresh()
  }
}

/** Returns the ids of the selected rows: the rows selected one by one, or all shown rows except the deselected ones. */
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
