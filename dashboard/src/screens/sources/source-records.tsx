import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { Button } from '../../ui/button.tsx'
import { plural } from '../../ui/figure.ts'
import { Problem } from '../../ui/problem.tsx'
import { RecordTable } from './record-table.tsx'

const PAGE = 20

/** The query of a page of records. The count is part of its key, so that new records cause a reload. */
export const recordsQuery = (id: string, page: number, count: number) => ({
  queryKey: keys.sourceRecords(id, page, count),
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    fetchData(
      call('GET /sources/:source_instance_id/data', {
        params: { source_instance_id: id },
        query: { page_no: String(page), page_size: String(PAGE) },
      }),
      { signal },
    ),
})

export function SourceRecords({ id, count }: { id: string; count: number }) {
  const [page, setPage] = useState(1)
  const records = useQuery({ ...recordsQuery(id, page, count), placeholderData: keepPreviousData })
  if (records.error !== null) return <Problem error={records.error} onRetry={() => void records.refetch()} />
  if (records.data === undefined) return null
  const { rows, total_count: total } = records.data
  return (
    <section aria-label="Imported records" className="flex flex-col gap-2">
      <h2 className="text-14 font-semibold">Records</h2>
      {total === 0 ? (
        <p className="text-muted">No records yet.</p>
      ) : (
        <>
          <RecordTable label="Records" rows={rows} />
          <div className="flex items-center gap-2">
            <Button size="small" disabled={page === 1} onClick={() => setPage(page - 1)}>
              Previous
            </Button>
            <Button size="small" disabled={page * PAGE >= total} onClick={() => setPage(page + 1)}>
              Next
            </Button>
            <span className="text-muted">{plural(total, 'record')}</span>
          </div>
        </>
      )}
    </section>
  )
}
