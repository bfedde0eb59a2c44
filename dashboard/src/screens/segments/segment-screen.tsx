import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { call } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { LoadedPage } from '../../frame/loaded-page.tsx'
import { Button } from '../../ui/button.tsx'
import { plural } from '../../ui/figure.ts'
import { Problem } from '../../ui/problem.tsx'
import { Table } from '../../ui/table.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { recordColumns } from '../records/record-columns.tsx'

/** The members of a segment, by value. */
export function Screen() {
  const { id } = useParams({ from: '/frame/segments/$id' })
  const load = (after: string | null, signal: AbortSignal) =>
    fetchData(
      call('GET /internal/segments/:segment_id/members', {
        params: { segment_id: id },
        query: { after: after ?? undefined },
      }),
      { signal },
    )
  // The heading and its count follow changes; the list below is read once, so that it does not move.
  const first = useQuery({ queryKey: keys.segment(id), queryFn: ({ signal }) => load(null, signal) })
  const pages = useInfiniteQuery({
    queryKey: keys.segmentMembers(id),
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    getNextPageParam: ({ next }) => next,
  })
  const members = pages.data?.pages.flatMap((page) => page.members) ?? []
  return (
    <LoadedPage title={first.data?.name ?? 'Segment'} query={first}>
      {({ kind, member_count }) => (
        <>
          <p className="text-muted">
            {`${plural(member_count, 'member')}. `}
            <Link to="/segments" className="text-accent-text underline">
              All segments
            </Link>
          </p>
          {member_count === 0 && members.length === 0 ? (
            <p role="status">No record matches the filter of this segment yet.</p>
          ) : (
            <Table
              label="Members"
              items={members}
              getKey={({ entity_id }) => entity_id}
              columns={[
                ...recordColumns(kind, members),
                { name: 'Member since', cell: ({ entered_at }) => <TimeText at={entered_at} /> },
              ]}
            />
          )}
          {pages.error !== null && <Problem error={pages.error} onRetry={() => void pages.refetch()} />}
          {pages.hasNextPage && (
            <Button
              className="self-start"
              busy={pages.isFetchingNextPage}
              onClick={() => void pages.fetchNextPage()}
            >
              Show more
            </Button>
          )}
        </>
      )}
    </LoadedPage>
  )
}
