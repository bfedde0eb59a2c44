import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import type { SegmentSync } from '#contract/segment-syncs.ts'
import type { SegmentSummary } from '#contract/segments.ts'
import { get } from '../../api/client.ts'
import { workflowsQuery } from '../../api/workflows.ts'
import { LoadedPage } from '../../frame/loaded-page.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Filter } from '../../ui/icons.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Table } from '../../ui/table.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { SyncCard } from './sync-card.tsx'

type Segment = z.infer<typeof SegmentSummary>

/** Segments of the record store, and the workflows that their members flow into. */
export function Screen() {
  const segments = useQuery({
    queryKey: ['segments'],
    queryFn: ({ signal }) => get<Segment[]>('/records/observe/segments', signal),
  })
  const syncs = useQuery({
    queryKey: ['syncs'],
    queryFn: ({ signal }) => get<SegmentSync[]>('/records/syncs', signal),
    refetchInterval: 10_000,
  })
  const workflows = useQuery(workflowsQuery)
  const nameOf = (workflowId: string) =>
    workflows.data?.find(({ workflow_id }) => workflow_id === workflowId)?.name ?? workflowId
  return (
    <LoadedPage title="Segments" query={segments}>
      {(list) => (
        <>
          {list.length === 0 ? (
            <EmptyState
              icon={Filter}
              title="No segments yet"
              text="A segment is a standing question to the record store, such as companies with more than 50 employees. Whoever enters it can flow into a workflow. An administrator makes one with loam segment create."
            />
          ) : (
            <Table
              label="Segments"
              items={list}
              keyOf={({ id }) => id}
              columns={[
                { name: 'Name', cell: ({ name }) => <span className="font-medium break-words">{name}</span> },
                { name: 'Of', cell: ({ entityKind }) => entityKind },
                {
                  name: 'Members',
                  align: 'right',
                  cell: ({ memberCount }) => memberCount.toLocaleString('en'),
                },
                {
                  name: 'Synced into',
                  wideOnly: true,
                  cell: ({ id }) =>
                    (syncs.data ?? [])
                      .filter(({ segment_id }) => segment_id === id)
                      .flatMap(({ destinations }) =>
                        destinations.map(({ workflow_id }) => nameOf(workflow_id)),
                      )
                      .join(', '),
                },
                { name: 'Changed', wideOnly: true, cell: ({ updatedAt }) => <TimeText at={updatedAt} /> },
              ]}
            />
          )}
          {syncs.error !== null && <Problem error={syncs.error} onRetry={() => void syncs.refetch()} />}
          {(syncs.data ?? []).map((sync) => (
            <SyncCard
              key={sync.sync_id}
              sync={sync}
              name={list.find(({ id }) => id === sync.segment_id)?.name ?? 'a deleted segment'}
              nameOf={nameOf}
            />
          ))}
        </>
      )}
    </LoadedPage>
  )
}
