import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import type { SheetTotals } from '#contract/row-edits.ts'
import { sheetCall } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useSheet, useTotal } from './sheet-view.ts'

type Totals = z.infer<typeof SheetTotals>

/** Returns the counts of all columns, read by one request. */
function useTotals(): Totals | undefined {
  const { sheet } = useSheet()
  const { data } = useQuery({
    queryKey: keys.sheet(sheet.sheetId).totals,
    queryFn: ({ signal }) => fetchData(sheetCall(sheet, 'GET /internal/totals'), { signal }),
  })
  return data
}

/** Returns the number of rows that have a result of the action, and the number of all rows. */
export function useColumnProgress(action: string): { done: number; total: number } {
  const { rows } = useSheet()
  const shown = useTotal(rows) ?? 0
  const totals = useTotals()
  return { done: totals?.settled[action] ?? 0, total: totals?.rows ?? shown }
}

/** Returns the number of failed cells of each action. */
export function useFailures(): Readonly<Record<string, number>> {
  return useTotals()?.failed ?? {}
}

/** Returns the number of rows in the sheet, regardless of filters. */
export function useAllRows(): number | undefined {
  return useTotals()?.rows
}
