import { createContext, useContext, useSyncExternalStore } from 'react'
import type { StoreApi } from 'zustand'
import type { SheetId } from '../../api/calls.ts'
import type { Column, Layout, PlacedColumn } from './columns.ts'
import type { createConnection } from './connection.ts'
import type { createHistory } from './history.ts'
import type { RowStore } from './row-store.ts'
import type { SheetAddress } from './sheet-address.ts'
import type { createViewState } from './view-state.ts'
import type { SheetViews } from './views/use-views.ts'

type StateOf<Make extends () => StoreApi<unknown>> = ReturnType<Make>

/** The state and functions that all parts of a sheet's screen share. */
export type SheetView = {
  sheet: SheetId
  workflowName: string
  rows: RowStore
  state: StateOf<typeof createViewState>
  history: StateOf<typeof createHistory>
  columns: readonly Column[]
  /** The visible columns, in order. */
  placed: readonly PlacedColumn[]
  layout: Layout
  /** Keeps the layout for this person until it is saved in the view. The change can be undone. */
  setLayout: (layout: Layout) => void
  /** Shows a layout without saving it, for use while a column is dragged. */
  showLayout: (layout: Layout) => void
  connection: StateOf<typeof createConnection>
  address: SheetAddress
  views: SheetViews
  can: { edit: boolean; configure: boolean; editActions: boolean; run: boolean }
  /** Rereads rows, runs and counts. Called after each change made here. */
  refresh: () => void
  /** Rereads inputs and actions. Called after each change of them. */
  refreshDefinition: () => Promise<void>
}

export const SheetContext = createContext<SheetView | null>(null)

export function useSheet(): SheetView {
  const view = useContext(SheetContext)
  if (view === null) throw new Error('useSheet must be used inside a sheet')
  return view
}

/** Returns the number of selected rows to display; null while a new selection is loading. */
export function useCount(rows: RowStore): number | null {
  return useSyncExternalStore(
    (listener) => rows.subscribeCount(listener),
    () => rows.count,
  )
}

export function useTotal(rows: RowStore): number | null {
  return useSyncExternalStore(
    (listener) => rows.subscribeCount(listener),
    () => rows.total,
  )
}
