import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { sheetCall, type SheetId } from '../../api/calls.ts'
import { fetchData, send } from '../../api/client.ts'
import type { View } from '../../api/views.ts'
import { notifyProblem } from '../../ui/toasts.tsx'
import {
  type Column,
  EMPTY_LAYOUT,
  type Layout,
  layoutKey,
  readLayout,
  readRowHeight,
  storeLayout,
} from './columns.ts'
import type { createHistory } from './history.ts'
import { isSame } from './views/same.ts'
import { layoutOfView } from './views/view-columns.ts'

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
    // An empty one was dropped in favour of the view.
    if (saved === null || isSame(saved, EMPTY_LAYOUT) || signal.aborted) return
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

type Kept = { key: string; layout: Layout | null }
type Parts = {
  view: View | undefined
  columns: readonly Column[]
  history: ReturnType<typeof createHistory>
}

/** Holds the layout of the open view: as this person changed it, in this browser or another one, or else as it was saved. */
export function useLayout(sheet: SheetId, { view, columns, history }: Parts) {
  const viewId = view === undefined || view.is_default ? null : view.view_id
  const key = layoutKey(sheet, viewId)
  const [kept, setKept] = useState<Kept>(() => ({ key, layout: readLayout(key) }))
  const base = useMemo(() => (view === undefined ? EMPTY_LAYOUT : layoutOfView(view)), [view])
  if (kept.key !== key) setKept({ key, layout: readLayout(key) })
  const layout = (kept.key === key ? kept.layout : readLayout(key)) ?? base
  const lastLayout = useRef(layout)
  // A column that is being dragged is shown, but an undo leads back to where it was before.
  const dragged = useRef<Layout | null>(null)
  useEffect(() => {
    if (layout !== dragged.current) lastLayout.current = layout
  }, [layout])
  const takeLayout = useCallback((next: Layout) => setKept({ key, layout: next }), [key])
  const showLayout = useCallback(
    (next: Layout) => {
      dragged.current = next
      takeLayout(next)
    },
    [takeLayout],
  )
  const isPersonal = viewId === null
  const lost = isPersonal && kept.layout !== null ? findLost(layout, columns) : ''
  useEffect(() => {
    if (lost === '') return undefined
    const ended = new AbortController()
    // The server has renamed the columns in its copy. This browser's copy still has their former names.
    void loadLayout(sheet, ended.signal, (saved) => {
      storeLayout(key, saved)
      takeLayout(saved)
    })
    return () => ended.abort()
  }, [sheet, key, lost, takeLayout])
  useEffect(() => {
    if (!isPersonal || readLayout(key) !== null) return undefined
    const ended = new AbortController()
    void loadLayout(sheet, ended.signal, (saved) => {
      if (readLayout(key) === null) takeLayout(saved)
    })
    return () => ended.abort()
  }, [sheet, key, isPersonal, takeLayout])

  const put = useCallback(
    (next: Layout | null) => {
      storeLayout(key, next)
      if (isPersonal) saveLayout(sheet, next ?? EMPTY_LAYOUT)
      setKept({ key, layout: next })
    },
    [key, isPersonal, sheet],
  )
  const setLayout = useCallback(
    (next: Layout) => {
      const before = lastLayout.current
      dragged.current = null
      lastLayout.current = next
      put(next)
      const name = describeChange(before, next)
      history.getState().push({ name, undo: async () => put(before), redo: async () => put(next) })
    },
    [history, put],
  )
  const dropLayout = useCallback(() => put(null), [put])
  return { layout, setLayout, showLayout, dropLayout }
}
