import { useCallback, useEffect, useRef, useState } from 'react'
import { sheetCall, type SheetId } from '../../api/calls.ts'
import { fetchData, send } from '../../api/client.ts'
import { notifyProblem } from '../../ui/toasts.tsx'
import { type Column, hasLayout, type Layout, readLayout, readRowHeight, storeLayout } from './columns.ts'
import type { createHistory } from './history.ts'

/** The delay before saving. Dragging a column edge changes the layout many times. */
const SAVE_MS = 500

/** Loads the layout that this person saved in another browser, and shows it if there is one. */
async function loadLayout(
  sheet: SheetId,
  signal: AbortSignal,
  show: (layout: Layout) => void,
): Promise<void> {
  try {
    const saved = await fetchData(sheetCall(sheet, 'GET /internal/layout'), { signal })
    if (saved === null || signal.aborted) return
    show({ ...saved, rowHeight: readRowHeight(saved.rowHeight) })
  } catch (error) {
    if (!signal.aborted) notifyProblem(error)
  }
}

const waiting = new Map<string, ReturnType<typeof setTimeout>>()

/** Saves the layout for the person's other browsers. This browser keeps its own copy even if saving fails. */
function saveLayout(sheet: SheetId, layout: Layout): void {
  const { sheetId } = sheet
  clearTimeout(waiting.get(sheetId))
  const save = () => {
    waiting.delete(sheetId)
    send(sheetCall(sheet, 'PUT /internal/layout', { body: layout })).catch(notifyProblem)
  }
  waiting.set(sheetId, setTimeout(save, SAVE_MS))
}

/** Returns the names in a layout that no input has, in one text. They were deleted, or renamed by anybody. */
function findLost({ order, hidden, frozen, widths }: Layout, columns: readonly Column[]): string {
  const known = new Set(columns.map(({ key }) => key))
  const named = [...order, ...hidden, ...frozen, ...Object.keys(widths)]
  const lost = named.filter((key) => key.startsWith('input.') && !known.has(key))
  return columns.length === 0 ? '' : [...new Set(lost)].sort().join('\n')
}

/** Returns what a change of the layout did. */
function describeChange(before: Layout, next: Layout): string {
  if (before.order !== next.order) return 'move a column in the grid'
  if (before.hidden !== next.hidden)
    return before.hidden.length < next.hidden.length ? 'hide a column' : 'show a column'
  if (before.frozen !== next.frozen)
    return before.frozen.length < next.frozen.length ? 'freeze a column' : 'unfreeze a column'
  return before.widths === next.widths ? 'change the row height' : 'resize a column'
}

/** Holds the layout of the sheet: of this browser, or else as this person saved it in another one. */
export function useLayout(
  sheet: SheetId,
  history: ReturnType<typeof createHistory>,
  columns: readonly Column[],
) {
  const [layout, showLayout] = useState(() => readLayout(sheet))
  const lastLayout = useRef(layout)
  const lost = findLost(layout, columns)
  useEffect(() => {
    if (lost === '') return undefined
    const ended = new AbortController()
    // The server has renamed the columns in its copy. This browser's copy still has their former names.
    void loadLayout(sheet, ended.signal, (saved) => {
      lastLayout.current = saved
      storeLayout(sheet, saved)
      showLayout(saved)
    })
    return () => ended.abort()
  }, [sheet, lost])
  useEffect(() => {
    if (hasLayout(sheet)) return undefined
    const ended = new AbortController()
    void loadLayout(sheet, ended.signal, (saved) => {
      if (hasLayout(sheet)) return
      lastLayout.current = saved
      showLayout(saved)
    })
    return () => ended.abort()
  }, [sheet])

  const setLayout = useCallback(
    (next: Layout) => {
      const put = (one: Layout) => {
        lastLayout.current = one
        storeLayout(sheet, one)
        saveLayout(sheet, one)
        showLayout(one)
      }
      const before = lastLayout.current
      put(next)
      const name = describeChange(before, next)
      history.getState().push({ name, undo: async () => put(before), redo: async () => put(next) })
    },
    [history, sheet],
  )
  return { layout, setLayout, showLayout }
}
