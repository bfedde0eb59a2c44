import { useQuery } from '@tanstack/react-query'
import { useState, useSyncExternalStore } from 'react'
import { useStore } from 'zustand'
import { sheetCall } from '../../../api/calls.ts'
import { fetchData } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import type { Row } from '../../../api/sheet.ts'
import { valueText } from '../cell-text.ts'
import { useCount, useSheet } from '../sheet-view.ts'

const MAX_FOUND = 20

/** The row on which an action is tried: the focused one of the grid, or one that was searched for. */
export type TriedRow = {
  id: string | null
  name: string
  /** Go to the row before and after; undefined at the ends. */
  previous: (() => void) | undefined
  next: (() => void) | undefined
  choose: (row: { id: string; name: string }) => void
}

export function useTriedRow(): TriedRow {
  const { rows, state } = useSheet()
  const count = useCount(rows) ?? 0
  const active = useStore(state, ({ active: { row } }) => Math.max(0, row))
  const row = useSyncExternalStore(
    (listener) => rows.subscribeRow(active, listener),
    () => rows.row(active),
  )
  // A row that the filters of the grid hide is tried until another one is focused.
  const [chosen, setChosen] = useState<{ id: string; name: string; at: number } | null>(null)
  const outside = chosen !== null && chosen.at === active ? chosen : null
  const goTo = (place: number) => {
    setChosen(null)
    const { column } = state.getState().active
    state.getState().goTo({ row: place, column })
  }
  return {
    id: outside?.id ?? row?.row_id ?? null,
    name: outside?.name ?? (row === undefined ? '' : nameRow(row, active)),
    previous: active > 0 ? () => goTo(active - 1) : undefined,
    next: active < count - 1 ? () => goTo(active + 1) : undefined,
    choose: ({ id, name }) =>
      void rows
        .locate(id)
        .then((place) => (place === null ? setChosen({ id, name, at: active }) : goTo(place))),
  }
}

/** Returns the first input of a row that is not blank, or else its number. */
function nameRow(row: Row, place?: number): string {
  const text = Object.values(row.inputs)
    .map(valueText)
    .find((one) => one.trim() !== '')
  return text ?? (place === undefined ? 'Empty row' : `Row ${place + 1}`)
}

/** Finds rows by a text that they hold. */
export function useFoundRows(words: string) {
  const { sheet } = useSheet()
  return useQuery({
    queryKey: keys.sheet(sheet.sheetId).rowsNamed(words),
    enabled: words.trim() !== '',
    queryFn: async ({ signal }) => {
      const body = { find: words.trim(), page_size: MAX_FOUND }
      const { rows } = await fetchData(sheetCall(sheet, 'POST /rows/list', { body }), { signal })
      return rows.map((row) => ({ id: row.row_id, name: nameRow(row) }))
    },
  })
}
