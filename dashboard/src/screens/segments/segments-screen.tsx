import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { SegmentSync } from '#contract/segment-syncs.ts'
import { get, request } from '../../api/client.ts'
import { workflowsQuery } from '../../api/workflows.ts'
import { LoadedPage } from '../../frame/loaded-page.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { figure } from '../../ui/figure.ts'
import { Filter, Plus } from '../../ui/icons.tsx'
import { Problem } from '../../ui/problem.tsx'
import { RowAction, RowActions } from '../../ui/row-actions.tsx'
import { Table } from '../../ui/table.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { type Segment, SegmentDialog } from './segment-dialog.tsx'
import { SyncCard } from './sync-card.tsx'
import { SyncSegment } from './sync-segment.tsx'

type Asked = { verb: 'new' } | { verb: 'edit' | 'sync' | 'delete'; segment: Segment }

const WORDS = { sync: 'Sync', edit: 'Edit', delete: 'Delete' } as const

/** Segments of the record store, and the workflows that their members flow into. */
export function Screen() {
  const segments = useQuery({
    queryKey: ['segments'],
    queryFn: ({ signal }) => get<Segment[]>('/records/observe/segments', signal),
    refetchInterval: 15_000,
  })
  const syncs = useQuery({
    queryKey: ['syncs'],
    queryFn: ({ signal }) => get<SegmentSync[]>('/records/syncs', signal),
    refetchInterval: 10_000,
  })
  const [asked, setAsked] = useState<Asked | null>(null)
  const queries = useQueryClient()
  const workflows = useQuery(workflowsQuery)
  const nameOf = (workflowId: string) =>
    workflows.data?.find(({ workflow_id }) => workflow_id === workflowId)?.name ?? workflowId
  return (
    <LoadedPage
      title="Segments"
      query={segments}
      actions={
        <Button kind="primary" icon={Plus} onClick={() => setAsked({ verb: 'new' })}>
          New segment
        </Button>
      }
    >
      {(list) => (
        <>
          {list.length === 0 ? (
            <EmptyState
              icon={Filter}
              title="No segments yet"
              text="A segment is a standing question to the record store, such as companies with more than 50 employees. Whoever enters it can flow into a workflow."
            >
              <Button onClick={() => setAsked({ verb: 'new' })}>Make the first one</Button>
            </EmptyState>
          ) : (
            <Table
              label="Segments"
              items={list}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: 'Name',
                  cell: ({ name }) => <span className="long-text font-medium">{name}</span>,
                },
                { name: 'Of', cell: ({ entityKind }) => entityKind },
                {
                  name: 'Members',
                  align: 'right',
                  cell: ({ memberCount }) => figure(memberCount),
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
                {
                  name: 'What to do',
                  hideName: true,
                  align: 'right',
                  cell: (segment) => (
                    <RowActions>
                      {(['sync', 'edit', 'delete'] as const).map((verb) => (
                        <RowAction
                          key={verb}
                          verb={WORDS[verb]}
                          of={segment.name}
                          onClick={() => setAsked({ verb, segment })}
                        />
                      ))}
                    </RowActions>
                  ),
                },
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
          {(asked?.verb === 'new' || asked?.verb === 'edit') && (
            <SegmentDialog
              segment={asked.verb === 'edit' ? asked.segment : null}
              onClose={() => setAsked(null)}
            />
          )}
          {asked?.verb === 'sync' && <SyncSegment segment={asked.segment} onClose={() => setAsked(null)} />}
          {asked?.verb === 'delete' && (
            <ConfirmDialog
              title={`Delete ${asked.segment.name}`}
              description="Its members are forgotten; records and delivered rows stay."
              verb="Delete"
              run={async () => {
                await request('DELETE', `/internal/segments/${asked.segment.id}`)
                await queries.invalidateQueries({ queryKey: ['segments'] })
              }}
              onClose={() => setAsked(null)}
            />
          )}
        </>
      )}
    </LoadedPage>
  )
}
