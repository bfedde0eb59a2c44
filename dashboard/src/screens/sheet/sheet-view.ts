import { createContext, useContext, useSyncExternalStore } from 'react'
import type { StoreApi } from 'zustand'
import type { SheetId } from '../../api/sheet.ts'
import type { Column, Layout, PlacedColumn } from './columns.ts'
import type { createConnection } from './connection.ts'
import type { createHistory } from './history.ts'
import type { RowStore } from './row-store.ts'
import type { SheetAddress } from './sheet-address.ts'
import type { createViewState } from './view-state.ts'

type StateOf<Make extends () => StoreApi<unknown>> = ReturnType<Make>

/** Everything that the parts of a sheet's screen share. */
export type SheetView = {
  sheet: SheetId
  /** Of its endpoints in the public API. */
  path: string
  workflowName: string
  rows: RowStore
  state: StateOf<typeof createViewState>
  history: StateOf<typeof createHistory>
  columns: readonly Column[]
  /** Those that are seen, in order. */
  placed: readonly PlacedColumn[]
  layout: Layout
  /** Kept, for all browsers of this person, and undone like any other change. */
  setLayout: (layout: Layout) => void
  /** Shown only: while something is dragged. */
  showLayout: (layout: Layout) => void
  connection: StateOf<typeof createConnection>
  address: SheetAddress
  can: { edit: boolean; configure: boolean; editActions: boolean; run: boolean }
  /** After a change of ours: rows, runs and counts are read again. */
  refresh: () => void
  /** After a change of inputs or actions. */
  refreshDefinition: () => Promise<void>
}

export const SheetContext = createContext<SheetView | null>(null)

export function useSheet(): SheetView {
  const view = useContext(SheetContext)
  if (view === null) throw new Error('a part of a sheet was shown outside of one')
  return view
}

/** For whoever says how many there are: nothing is said while others are being chosen. */
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
