import { get, request } from '../../api/client.ts'
import { type SheetId, sheetPath } from '../../api/sheet.ts'
import { notifyProblem } from '../../ui/toasts.tsx'
import type { Layout } from './columns.ts'

/** Dragging a width changes it many times. */
const SAVE_MS = 500

const pathOf = (sheet: SheetId) => `/internal${sheetPath(sheet)}/layout`

/** Shows what this person arranged in another browser, if anything. */
export async function loadLayout(
  sheet: SheetId,
  signal: AbortSignal,
  show: (layout: Layout) => void,
): Promise<void> {
  try {
    const saved = await get<Layout | null>(pathOf(sheet), signal)
    if (saved !== null && !signal.aborted) show(saved)
  } catch (error) {
    if (!signal.aborted) notifyProblem(error)
  }
}

const waiting = new Map<string, ReturnType<typeof setTimeout>>()

/** Saves the layout for other browsers of this person. This one keeps its own, whatever comes of it. */
export function saveLayout(sheet: SheetId, layout: Layout): void {
  const path = pathOf(sheet)
  clearTimeout(waiting.get(path))
  const save = () => {
    waiting.delete(path)
    request('PUT', path, layout).catch(notifyProblem)
  }
  waiting.set(path, setTimeout(save, SAVE_MS))
}
