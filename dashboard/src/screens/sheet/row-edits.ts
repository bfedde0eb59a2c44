import { post } from '../../api/client.ts'
import { sendUntilHeard } from '../../api/outbox.ts'
import type { Row } from '../../api/sheet.ts'
import { plural } from '../../ui/figure.ts'
import { notify, notifyProblem } from '../../ui/toasts.tsx'
import type { Step } from './history.ts'
import type { SheetView } from './sheet-view.ts'

export type RowEdit = { row_id: string; inputs: Record<string, unknown> }

const MAX_ROWS_PER_ADD = 1000
/** The server keeps edits of so many rows for undo. */
export const MAX_EDITED_ROWS = 10_000
const MAX_IDS_PER_CALL = 200

type Turned = { values_left: number }
type Edited = {
  edit_id: string | null
  rejected: { errors: { field: string; message: string }[] }[]
}
type Added = {
  row_ids: string[]
  rejected: { index: number; errors: { field: string; message: string }[] }[]
}

/** Shown at once, then written as soon as the server can be reached; what it refuses is put back and said. */
export async function editRows(view: SheetView, edits: readonly RowEdit[]): Promise<boolean> {
  const [first = [], ...rest] = chunks(edits, MAX_EDITED_ROWS)
  if (rest.length > 0) return (await editRows(view, first)) && editRows(view, rest.flat())
  const release = view.rows.type(edits)
  const { push, hold } = view.history.getState()
  const writing = writeEdits(view, edits).then((written) => {
    if (written.editId !== null) push(editStep(view, written.editId))
    return written
  })
  hold(writing)
  const { isWritten } = await writing
  if (!isWritten) release()
  // What was typed is shown until the server shows it too.
  await view.rows.refresh()
  release()
  view.refresh()
  return isWritten
}

/** The server keeps what was there before, for every browser of this person. */
export function editStep(view: Pick<SheetView, 'path' | 'refresh'>, editId: string): Step {
  const turn = async (verb: 'undo' | 'redo') => {
    try {
      const { values_left } = await post<Turned>(`/internal${view.path}/edits/${editId}/${verb}`)
      if (values_left > 0) notify(`${plural(values_left, 'value')} changed since, and left as they are`)
    } finally {
      view.refresh()
    }
  }
  return { name: 'edit', undo: () => turn('undo'), redo: () => turn('redo') }
}

async function writeEdits(
  view: SheetView,
  edits: readonly RowEdit[],
): Promise<{ editId: string | null; isWritten: boolean }> {
  let editId: string | null = null
  const refused: Edited['rejected'] = []
  try {
    for (const rows of chunks(edits, MAX_IDS_PER_CALL)) {
      const body: object = { rows, ...(editId === null ? {} : { edit_id: editId }) }
      const { data } = await sendUntilHeard<Edited>('PATCH', `/internal${view.path}/rows`, body)
      editId = data.edit_id
      refused.push(...data.rejected)
    }
  } catch (error) {
    notifyProblem(error)
    return { editId, isWritten: false }
  }
  const [first] = refused
  if (first !== undefined) {
    const reasons = first.errors.map(({ field, message }) => `${field}: ${message}`).join('; ')
    notifyProblem(`${plural(refused.length, 'row')} not changed; the first: ${reasons}`)
  }
  return { editId, isWritten: refused.length < edits.length }
}

/** At the end of the sheet. Rows that are refused are named; the rest is there. */
export async function addRows(view: SheetView, rows: readonly Record<string, unknown>[]): Promise<string[]> {
  const ids: string[] = []
  try {
    for (const part of chunks(rows, MAX_ROWS_PER_ADD)) {
      const { data } = await sendUntilHeard<Added>('POST', `${view.path}/rows`, { rows: part })
      const { row_ids, rejected } = data
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
