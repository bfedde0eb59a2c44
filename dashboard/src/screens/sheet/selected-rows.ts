import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useStore } from 'zustand'
import { type SheetBody, sheetCall } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { matchingBody } from '../../api/sheet.ts'
import type { RunChoice } from './runs/run-choice.ts'
import { type SheetView, useSheet } from './sheet-view.ts'

/** The pause after a change of the selection before its cost is estimated. */
const PAUSE_MS = 300

type Chosen = { all: boolean; ids: ReadonlySet<string> }

/** Returns the choice of the selected rows for a run: by the filters if all rows were selected, else by ids. */
export const chooseSelected = ({ all, ids }: Chosen): RunChoice =>
  all ? { kind: 'matching', excluded: [...ids] } : { kind: 'rows', ids: [...ids] }

/** Deletes all rows that match, without the excluded ones. Returns their number. */
export async function deleteMatching(view: SheetView, excluded: readonly string[]): Promise<number> {
  const body = matchingBody(view.address.selection, excluded)
  const { deleted_count } = await fetchData(sheetCall(view.sheet, 'POST /rows/delete', { body }))
  view.state.getState().clearSelection()
  view.rows.sortAgain()
  view.refresh()
  return deleted_count
}

/** Returns the most that a run of the selected rows costs; undefined while it is estimated, null if there is no limit. */
export function useSelectedCost(isEnabled: boolean): number | null | undefined {
  const { sheet, state, address } = useSheet()
  const selected = useStore(state, (current) => current.selected)
  const { selection } = address
  const [settled, setSettled] = useState(selected)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(selected), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [selected])
  const ids = [...settled.ids]
  const body: SheetBody<'POST /estimate'> = settled.all ? matchingBody(selection, ids) : { row_ids: ids }
  const call = sheetCall(sheet, 'POST /estimate', { body })
  const { data } = useQuery({
    queryKey: keys.estimate(call),
    enabled: isEnabled && settled === selected && (settled.all || ids.length > 0),
    queryFn: ({ signal }) => fetchData(call, { signal }),
    gcTime: 0,
  })
  return settled === selected ? data?.credits.at_most : undefined
}
