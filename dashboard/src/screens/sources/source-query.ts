import { queryOptions } from '@tanstack/react-query'
import { call } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'

export const sourceQuery = (id: string) =>
  queryOptions({
    queryKey: keys.source(id),
    queryFn: ({ signal }) =>
      fetchData(call('GET /sources/:source_instance_id', { params: { source_instance_id: id } }), { signal }),
  })
