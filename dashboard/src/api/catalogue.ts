import { queryOptions } from '@tanstack/react-query'
import type { CatalogueAction, CatalogueEntry } from '#contract/catalogue.ts'
import { call } from './calls.ts'
import { fetchData } from './client.ts'
import { keys } from './keys.ts'

export type { CatalogueAction, CatalogueEntry }

/** The catalogue of actions. It never changes while the page is open, because it is part of the program. */
export const catalogueQuery = queryOptions({
  queryKey: keys.catalogue,
  staleTime: Infinity,
  queryFn: ({ signal }) => fetchData(call('GET /actions'), { signal }),
})

export const templateQuery = (actionId: string) =>
  queryOptions({
    queryKey: keys.template(actionId),
    staleTime: Infinity,
    queryFn: ({ signal }) =>
      fetchData(call('GET /actions/:action_id', { params: { action_id: actionId } }), { signal }),
  })
