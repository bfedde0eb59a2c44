import { queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'
import type { GraphNode as GraphNodeSchema } from '#contract/actions.ts'
import type { Estimate as EstimateSchema } from '#contract/estimates.ts'
import type { Input as InputSchema } from '#contract/inputs.ts'
import type { Cell as CellSchema, RowFilter, RowPage as RowPageSchema, StatusFilter } from '#contract/rows.ts'
import type { CellDetail as CellDetailSchema, Run as RunSchema } from '#contract/runs.ts'
import { type SheetId, sheetCall } from './calls.ts'
import { fetchData, send } from './client.ts'
import { keys } from './keys.ts'
import type { Selection } from './selection.ts'

export type Input = z.infer<typeof InputSchema>
export type GraphNode = z.infer<typeof GraphNodeSchema>
export type Cell = z.infer<typeof CellSchema>
export type RowPage = z.infer<typeof RowPageSchema>
export type Row = RowPage['rows'][number]
export type Run = z.infer<typeof RunSchema>
export type CellDetail = z.infer<typeof CellDetailSchema>
export type Estimate = z.infer<typeof EstimateSchema>
export type { RowFilter, Selection, StatusFilter }

export const inputsQuery = (sheet: SheetId) =>
  queryOptions({
    queryKey: keys.sheet(sheet.sheetId).inputs,
    queryFn: ({ signal }) => fetchData(sheetCall(sheet, 'GET /inputs'), { signal }),
  })

/** The action chain, without the synthetic input node. */
export const actionsQuery = (sheet: SheetId) =>
  queryOptions({
    queryKey: keys.sheet(sheet.sheetId).actions,
    queryFn: async ({ signal }) =>
      (await fetchData(sheetCall(sheet, 'GET /actions/graph'), { signal })).filter(
        ({ action_instance_id: id }) => id !== 'input',
      ),
  })

export const runsQuery = (sheet: SheetId) =>
  queryOptions({
    queryKey: keys.sheet(sheet.sheetId).runs,
    queryFn: ({ signal }) => fetchData(sheetCall(sheet, 'GET /runs'), { signal }),
  })

/** Returns the fields of a body that select rows, or none if all rows are selected. */
export function selectionBody({ filters, status_filters, created_at, find, cause }: Selection) {
  return {
    ...(filters.length === 0 ? {} : { filters }),
    ...(status_filters.length === 0 ? {} : { status_filters }),
    ...(created_at === null ? {} : { created_at }),
    ...(find === '' ? {} : { find }),
    ...(cause === '' ? {} : { cause }),
  }
}

export const isFiltered = (selection: Selection) => Object.keys(selectionBody(selection)).length > 0

/** Returns the fields of a body for all rows that match, without the excluded ones. */
export const matchingBody = (selection: Selection, excluded: readonly string[]) => ({
  ...(isFiltered(selection) ? selectionBody(selection) : { all: true as const }),
  ...(excluded.length === 0 ? {} : { exclude_row_ids: excluded }),
})

/** Loads the choices of a field of an action. */
export async function fetchOptions(sheet: SheetId, action: string, field: string) {
  const call = sheetCall(sheet, 'POST /actions/:action_instance_id/options/:field_name', {
    params: { action_instance_id: action, field_name: field },
    body: {},
  })
  return (await fetchData(call)).options
}

/** Loads the choices of a field for values that may be unsaved. The warning says why there are none. */
export async function fetchTemplateOptions(
  sheet: SheetId,
  { template, field, context }: { template: string; field: string; context: Record<string, unknown> },
) {
  const call = sheetCall(sheet, 'POST /internal/templates/:action_id/options/:field_name', {
    params: { action_id: template, field_name: field },
    body: { context },
  })
  const { data, warnings } = await send(call)
  return { options: data.options, warning: warnings[0]?.message ?? null }
}
