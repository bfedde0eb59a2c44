import { queryOptions } from '@tanstack/react-query'
import { call } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'

export const sourceTypesQuery = queryOptions({
  queryKey: keys.sourceTypes,
  queryFn: ({ signal }) => fetchData(call('GET /internal/source-types'), { signal }),
  staleTime: Number.POSITIVE_INFINITY,
})
