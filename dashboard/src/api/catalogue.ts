import { queryOptions } from '@tanstack/react-query'
import type { CatalogueAction, CatalogueEntry } from '#contract/catalogue.ts'
import { call, sheetCall, type SheetId } from './calls.ts'
import { fetchData } from './client.ts'
import { keys } from './keys.ts'

export type { CatalogueAction, CatalogueEntry }

/** The catalogue of actions, which is part of the program. Only its `has_key` changes, when somebody adds a key. */
export const catalogueQuery = queryOptions({
  queryKey: keys.catalogue,
  staleTime: 60_000,
  queryFn: ({ signal }) => fetchData(call('GET /actions'), { signal }),
})

/** The actions that suit the columns of a sheet. */
export const suggestionsQuery = (sheet: SheetId) =>
  queryOptions({
    queryKey: keys.sheet(sheet.sheetId).suggestions,
    queryFn: ({ signal }) => fetchData(sheetCall(sheet, 'GET /actions/suggestions'), { signal }),
  })

export const templateQuery = (actionId: string) =>
  queryOptions({
    queryKey: keys.template(actionId),
    staleTime: Infinity,
    queryFn: ({ signal }) =>
      fetchData(call('GET /actions/:action_id', { params: { action_id: actionId } }), { signal }),
  })
