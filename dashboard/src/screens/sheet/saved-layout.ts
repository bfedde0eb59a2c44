import { sheetCall, type SheetId } from '../../api/calls.ts'
import { fetchData, send } from '../../api/client.ts'
import { notifyProblem } from '../../ui/toasts.tsx'
import { type Layout, ROW_HEIGHTS } from './columns.ts'

/** The delay before saving. Dragging a column edge changes the layout many times. */
const SAVE_MS = 500

/** Loads the layout that this person saved in another browser, and shows it if there is one. */
export async function loadLayout(
  sheet: SheetId,
  signal: AbortSignal,
  show: (layout: Layout) => void,
): Promise<void> {
  try {
    const saved = await fetchData(sheetCall(sheet, 'GET /internal/layout'), { signal })
    if (saved === null || signal.aborted) return
    show({ ...saved, rowHeight: ROW_HEIGHTS.find((height) => height === saved.rowHeight) ?? 32 })
  } catch (error) {
    if (!signal.aborted) notifyProblem(error)
  }
}

const waiting = new Map<string, ReturnType<typeof setTimeout>>()

/** Saves the layout for the person's other browsers. This browser keeps its own copy even if saving fails. */
export function saveLayout(sheet: SheetId, layout: Layout): void {
  const { sheetId } = sheet
  clearTimeout(waiting.get(sheetId))
  const save = () => {
    waiting.delete(sheetId)
    send(sheetCall(sheet, 'PUT /internal/layout', { body: layout })).catch(notifyProblem)
  }
  waiting.set(sheetId, setTimeout(save, SAVE_MS))
}
