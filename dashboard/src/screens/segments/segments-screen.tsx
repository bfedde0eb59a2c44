import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { SegmentSync } from '#contract/segment-syncs.ts'
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
import { NameLink } from '../../ui/name-link.tsx'
import { Problem } from '../../ui/problem.tsx'
import { RowAction, RowActions } from '../../ui/row-actions.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { kindWords } from '../records/record-kinds.ts'
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
  const workflows = useQuery(workflowsQuery)
  const findWorkflowName = (workflowId: string) =>
    workflows.data?.find(({ workflow_id }) => workflow_id === workflowId)?.name ?? 'a workflow of others'
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
              columns={buildColumns(syncs.data ?? [], findWorkflowName, setDialog)}
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
          {dialog !== null && <OpenedDialog dialog={dialog} onClose={() => setDialog(null)} />}
        </>
      )}
    </LoadedPage>
  )
}

function OpenedDialog({ dialog, onClose }: { dialog: OpenDialog; onClose: () => void }) {
  const queries = useQueryClient()
  switch (dialog.verb) {
    case 'new':
      return <SegmentDialog segment={null} onClose={onClose} />
    case 'edit':
      return <SegmentDialog segment={dialog.segment} onClose={onClose} />
    case 'sync':
      return <SyncSegment segment={dialog.segment} onClose={onClose} />
    case 'delete':
      return (
        <ConfirmDialog
          title={`Delete ${dialog.segment.name}`}
          description="This deletes the list of members. Records and delivered rows stay."
          verb="Delete"
          run={async () => {
            const params = { segment_id: dialog.segment.id }
            await send(call('DELETE /internal/segments/:segment_id', { params }))
            await queries.invalidateQueries({ queryKey: keys.segments })
          }}
          onClose={onClose}
        />
      )
  }
}

function buildColumns(
  syncs: readonly SegmentSync[],
  findWorkflowName: (workflowId: string) => string,
  open: (dialog: OpenDialog) => void,
): readonly Column<Segment>[] {
  return [
    {
      name: 'Name',
      cell: ({ id, name }) => (
        <NameLink to="/segments/$id" params={{ id }}>
          {name}
        </NameLink>
      ),
    },
    { name: 'Kind', cell: ({ entityKind }) => kindWords(entityKind).plural },
    {
      name: 'Members',
      align: 'right',
      cell: ({ memberCount }) => figure(memberCount),
    },
    {
      name: 'Synced into',
      wideOnly: true,
      cell: ({ id }) =>
        syncs
          .filter(({ segment_id }) => segment_id === id)
          .flatMap(({ destinations }) => destinations.map(({ workflow_id }) => findWorkflowName(workflow_id)))
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
              onClick={() => open({ verb, segment })}
            />
          ))}
        </RowActions>
      ),
    },
  ]
}
