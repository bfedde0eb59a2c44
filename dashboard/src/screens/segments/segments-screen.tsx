import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/calls.ts'
import { fetchData, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
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

type OpenDialog = { verb: 'new' } | { verb: 'edit' | 'sync' | 'delete'; segment: Segment }

const VERBS = { sync: 'Sync', edit: 'Edit', delete: 'Delete' } as const

/** The screen of segments and their syncs into workflows. */
export function Screen() {
  const segments = useQuery({
    queryKey: keys.segments,
    queryFn: ({ signal }) => fetchData(call('GET /records/observe/segments'), { signal }),
    refetchInterval: 15_000,
  })
  const syncs = useQuery({
    queryKey: keys.syncs,
    queryFn: ({ signal }) => fetchData(call('GET /records/syncs'), { signal }),
    refetchInterval: 10_000,
  })
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const queries = useQueryClient()
  const workflows = useQuery(workflowsQuery)
  const findWorkflowName = (workflowId: string) =>
    workflows.data?.find(({ workflow_id }) => workflow_id === workflowId)?.name ?? workflowId
  return (
    <LoadedPage
      title="Segments"
      query={segments}
      actions={
        <Button kind="primary" icon={Plus} onClick={() => setDialog({ verb: 'new' })}>
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
              text="A segment is a saved audience, such as companies with more than 50 employees. Matching records can be synced into a workflow."
            >
              <Button onClick={() => setDialog({ verb: 'new' })}>Create the first segment</Button>
            </EmptyState>
          ) : (
            <Table
              label="Segments"
              items={list}
              getKey={({ id }) => id}
              columns={[
                {
                  name: 'Name',
                  cell: ({ name }) => <span className="long-text font-medium">{name}</span>,
                },
                { name: 'Kind', cell: ({ entityKind }) => entityKind },
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
                        destinations.map(({ workflow_id }) => findWorkflowName(workflow_id)),
                      )
                      .join(', '),
                },
                { name: 'Changed', wideOnly: true, cell: ({ updatedAt }) => <TimeText at={updatedAt} /> },
                {
                  name: 'Actions',
                  hideName: true,
                  align: 'right',
                  cell: (segment) => (
                    <RowActions>
                      {(['sync', 'edit', 'delete'] as const).map((verb) => (
                        <RowAction
                          key={verb}
                          verb={VERBS[verb]}
                          of={segment.name}
                          onClick={() => setDialog({ verb, segment })}
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
              findWorkflowName={findWorkflowName}
            />
          ))}
          {(dialog?.verb === 'new' || dialog?.verb === 'edit') && (
            <SegmentDialog
              segment={dialog.verb === 'edit' ? dialog.segment : null}
              onClose={() => setDialog(null)}
            />
          )}
          {dialog?.verb === 'sync' && (
            <SyncSegment segment={dialog.segment} onClose={() => setDialog(null)} />
          )}
          {dialog?.verb === 'delete' && (
            <ConfirmDialog
              title={`Delete ${dialog.segment.name}`}
              description="This deletes the list of members. Records and delivered rows stay."
              verb="Delete"
              run={async () => {
                await send(
                  call('DELETE /internal/segments/:segment_id', {
                    params: { segment_id: dialog.segment.id },
                  }),
                )
                await queries.invalidateQueries({ queryKey: keys.segments })
              }}
              onClose={() => setDialog(null)}
            />
          )}
        </>
      )}
    </LoadedPage>
  )
}
