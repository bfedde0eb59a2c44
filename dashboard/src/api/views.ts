import { queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'
import type { Column as ColumnSchema } from '#contract/columns.ts'
import type { CreatedAtFilter, RowFilter, StatusFilter } from '#contract/rows.ts'
import type { View as ViewSchema } from '#contract/views.ts'
import { type SheetId, sheetCall } from './calls.ts'
import { fetchData, LIVE } from './client.ts'
import { keys } from './keys.ts'
import type { Sort } from './selection.ts'

type AnsweredView = z.infer<typeof ViewSchema>
export type GroupColumn = z.infer<typeof ColumnSchema>
/** The rows of a view, their order and their groups. */
export type ViewRows = {
  filters: RowFilter[]
  status_filters: StatusFilter[]
  created_at: CreatedAtFilter | null
  sort: Sort
  groups: GroupColumn[]
}
export type View = Omit<AnsweredView, keyof ViewRows> & ViewRows

/** The rows of a sheet without any view. */
export const NO_VIEW: ViewRows = { filters: [], status_filters: [], created_at: null, sort: [], groups: [] }

export const viewsQuery = (sheet: SheetId) =>
  queryOptions({
    queryKey: keys.sheet(sheet.sheetId).views,
    // The server has checked these parts of a view, which its answer describes only in general.
    queryFn: async ({ signal }) => (await fetchData(sheetCall(sheet, 'GET /views'), { signal })) as View[],
    ...LIVE,
  })

/** Returns the view of an address, or the default one if the address names none that is there. */
export const findView = (views: readonly View[], id: string | undefined): View | undefined =>
  views.find(({ view_id }) => view_id === id) ?? views.find(({ is_default }) => is_default)
