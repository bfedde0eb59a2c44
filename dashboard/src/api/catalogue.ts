import { queryOptions } from '@tanstack/react-query'
import type { CatalogueAction, CatalogueEntry } from '#contract/catalogue.ts'
import { get } from './client.ts'

export type { CatalogueAction, CatalogueEntry }

/** It belongs to the program: as long as the page lives it is the same. */
export const catalogueQuery = queryOptions({
  queryKey: ['catalogue'],
  staleTime: Infinity,
  queryFn: ({ signal }) => get<CatalogueEntry[]>('/actions', signal),
})

export const templateQuery = (actionId: string) =>
  queryOptions({
    queryKey: ['catalogue', actionId],
    staleTime: Infinity,
    queryFn: ({ signal }) => get<CatalogueAction>(`/actions/${encodeURIComponent(actionId)}`, signal),
  })
