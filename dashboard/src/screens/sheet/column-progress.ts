import { useQuery } from '@tanstack/react-query'
import { request } from '../../api/client.ts'
import type { RowPage } from '../../api/sheet.ts'
import { useSheet, useTotal } from './sheet-view.ts'

const SETTLED = ['complete', 'failed', 'error', 'out_of_credits', 'condition_not_met']

/** How many rows have a result of the action. */
export function useColumnProgress(action: string): { done: number; total: number } {
  const { path, sheet, rows } = useSheet()
  const all = useQuery({
    queryKey: ['sheet', sheet.sheetId, 'count', action],
    staleTime: 2000,
    queryFn: async ({ signal }) => {
      const body = { page_size: 1, status_filters: [{ action_instance_id: action, is: SETTLED }] }
      const { data } = await request<RowPage>('POST', `${path}/rows/list`, body, { signal })
      return data.total_count
    },
  })
  const shown = useTotal(rows) ?? 0
  const total = useAllRows() ?? shown
  return { done: all.data ?? 0, total }
}

/** Rows of the sheet, whatever is filtered. */
export function useAllRows(): number | undefined {
  const { path, sheet } = useSheet()
  const count = useQuery({
    queryKey: ['sheet', sheet.sheetId, 'count'],
    staleTime: 2000,
    queryFn: async ({ signal }) => {
      const { data } = await request<RowPage>('POST', `${path}/rows/list`, { page_size: 1 }, { signal })
      return data.total_count
    },
  })
  return count.data
}
