import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import type { SheetTotals } from '#contract/row-edits.ts'
import { get } from '../../api/client.ts'
import { useSheet, useTotal } from './sheet-view.ts'

type Totals = z.infer<typeof SheetTotals>

/** Counts of all columns at once. */
function useTotals(): Totals | undefined {
  const { path, sheet } = useSheet()
  const { data } = useQuery({
    queryKey: ['sheet', sheet.sheetId, 'count'],
    queryFn: ({ signal }) => get<Totals>(`/internal${path}/totals`, signal),
  })
  return data
}

/** How many rows have a result of the action. */
export function useColumnProgress(action: string): { done: number; total: number } {
  const { rows } = useSheet()
  const shown = useTotal(rows) ?? 0
  const totals = useTotals()
  return { done: totals?.settled[action] ?? 0, total: totals?.rows ?? shown }
}

/** Rows of the sheet, whatever is filtered. */
export function useAllRows(): number | undefined {
  return useTotals()?.rows
}
