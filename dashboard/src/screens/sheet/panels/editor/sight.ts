import { createContext, useContext, useSyncExternalStore } from 'react'
import { useStore } from 'zustand'
import type { Row } from '../../../../api/sheet.ts'
import type { Sight } from '../../references.ts'
import { useSheet } from '../../sheet-view.ts'

/** The columns and the row that the fields of a panel show in their chips. */
export const SightContext = createContext<Sight>({ columns: [], later: [], row: undefined })

export const useSight = (): Sight => useContext(SightContext)

/** Returns the row whose values a panel shows: the focused row of the grid, or else the first one. */
export function useSampleRow(): Row | undefined {
  const { rows, state } = useSheet()
  const active = useStore(state, ({ active }) => Math.max(0, active.row))
  const focused = useSyncExternalStore(
    (listener) => rows.subscribeRow(active, listener),
    () => rows.row(active),
  )
  const first = useSyncExternalStore(
    (listener) => rows.subscribeRow(0, listener),
    () => rows.row(0),
  )
  return focused ?? first
}
