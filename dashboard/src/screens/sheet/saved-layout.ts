import { get, request } from '../../api/client.ts'
import { type SheetId, sheetPath } from '../../api/sheet.ts'
import { notifyProblem } from '../../ui/toasts.tsx'
import type { Layout } from './columns.ts'

/** The delay before saving. Dragging a column edge changes the layout many times. */
const SAVE_MS = 500

const layoutPath = (sheet: SheetId) => `/internal${sheetPath(sheet)}/layout`

/** Loads the layout that this person saved in another browser, and shows it if there is one. */
export async function loadLayout(
  sheet: SheetId,
  signal: AbortSignal,
  show: (layout: Layout) => void,
): Promise<void> {
  try {
    const saved = await get<Layout | null>(layoutPath(sheet), signal)
    if (saved !== null && !signal.aborted) show(saved)
  } catch (error) {
    if (!signal.aborted) notifyProblem(error)
  }
}

const waiting = new Map<string, ReturnType<typeof setTimeout>>()

/** Saves the layout for the person's other browsers. This browser keeps its own copy even if saving fails. */
export function saveLayout(sheet: SheetId, layout: Layout): void {
  const path = layoutPath(sheet)
  clearTimeout(waiting.get(path))
  const save = () => {
    waiting.delete(path)
    request('PUT', path, layout).catch(notifyProblem)
  }
  waiting.set(path, setTimeout(save, SAVE_MS))
}
