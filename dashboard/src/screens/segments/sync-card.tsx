import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Choice, SegmentSync } from '#contract/segment-syncs.ts'
import { type Call, call } from '../../api/calls.ts'
import { send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { plural } from '../../ui/figure.ts'
import { NameLink } from '../../ui/name-link.tsx'
import { RowAction } from '../../ui/row-actions.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { notifyProblem } from '../../ui/toasts.tsx'

type Destination = SegmentSync['destinations'][number]

const HELD_REASONS = {
  filter_changed: 'the filter was changed',
  flood: 'an unusually large number joined at once',
} as const

/** The state of a sync: delivered members, held members with the reason, and the actions for them. */
export function SyncCard({
  sync,
  name,
  findWorkflowName,
}: {
  sync: SegmentSync
  name: string
  findWorkflowName: (workflowId: string) => string
}) {
  const [isDeleting, setDeleting] = useState(false)
  const queries = useQueryClient()
  const params = { sync_id: sync.sync_id }
  const refresh = () => queries.invalidateQueries({ queryKey: keys.syncs })
  const act = useMutation({
    mutationFn: (change: Call<SegmentSync>) => send(change),
    onSuccess: refresh,
    onError: (error, attempt) => notifyProblem(error, () => act.mutate(attempt)),
  })
  const confirm = (choice: Choice) =>
    act.mutate(call('POST /records/syncs/:sync_id/confirm', { params, body: { choice } }))
  const toggle = ({ connection_id, state }: Destination) =>
    act.mutate(
      call(
        `POST /records/syncs/:sync_id/destinations/:connection_id/${state === 'active' ? 'pause' : 'resume'}`,
        { params: { ...params, connection_id } },
      ),
    )
  return (
    <section aria-label={`Sync of ${name}`} className="flex flex-col gap-3 rounded-lg border p-4">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="mr-auto min-w-0 text-14 font-semibold wrap-anywhere">{`Sync of ${name}`}</h2>
        <Badge tone={sync.state === 'active' ? 'good' : 'warning'}>{sync.state.replaceAll('_', ' ')}</Badge>
        {sync.state === 'paused_error' && (
          <Button
            busy={act.isPending}
            onClick={() => act.mutate(call('POST /records/syncs/:sync_id/resume', { params }))}
          >
            Resume sync
          </Button>
        )}
        <Button size="small" aria-label={`Delete sync of ${name}`} onClick={() => setDeleting(true)}>
          Delete
        </Button>
      </div>
      <p className="text-muted">
        {'Last cycle: '}
        <TimeText at={sync.last_cycle_at} />
        {sync.last_import_error !== null && `. Last error: ${sync.last_import_error.message}`}
      </p>
      {sync.held_count > 0 && <HeldMembers sync={sync} onChoose={confirm} />}
      <Table
        label={`Destinations of ${name}`}
        items={sync.destinations}
        getKey={({ connection_id }) => connection_id}
        columns={buildColumns(findWorkflowName, toggle)}
      />
      {isDeleting && (
        <ConfirmDialog
          title={`Delete sync of ${name}`}
          description="No more members are delivered. Delivered rows stay."
          verb="Delete"
          run={async () => {
            await send(call('DELETE /records/syncs/:sync_id', { params }))
            await refresh()
          }}
          onClose={() => setDeleting(false)}
        />
      )}
    </section>
  )
}

/** The notice about members that wait for a decision. */
function HeldMembers({ sync, onChoose }: { sync: SegmentSync; onChoose: (choice: Choice) => void }) {
  const why = sync.held_reason === null ? '' : ` because ${HELD_REASONS[sync.held_reason]}`
  return (
    <div role="status" className="flex flex-wrap items-center gap-2 rounded-md bg-subtle px-3 py-2">
      <span className="mr-auto">{`${plural(sync.held_count, 'member is', 'members are')} held${why}`}</span>
      <Button onClick={() => onChoose('push')}>Push held members</Button>
      <Button onClick={() => onChoose('skip')}>Skip held members</Button>
    </div>
  )
}

function buildColumns(
  findWorkflowName: (workflowId: string) => string,
  toggle: (destination: Destination) => void,
): readonly Column<Destination>[] {
  return [
    {
      name: 'Workflow',
      cell: ({ workflow_id: id }) => (
        <NameLink to="/workflows/$workflowId" params={{ workflowId: id }}>
          {findWorkflowName(id)}
        </NameLink>
      ),
    },
    {
      name: 'State',
      cell: ({ state }) => (
        <Badge tone={state === 'active' ? 'good' : 'warning'}>{state.replaceAll('_', ' ')}</Badge>
      ),
    },
    { name: 'Delivered', align: 'right', cell: ({ delivered }) => delivered.toLocaleString('en') },
    { name: 'Waiting', align: 'right', cell: ({ pending }) => pending.toLocaleString('en') },
    {
      name: 'Failed',
      align: 'right',
      wideOnly: true,
      cell: ({ failed }) => failed.toLocaleString('en'),
    },
    {
      name: 'Actions',
      hideName: true,
      align: 'right',
      cell: (destination) => (
        <RowAction
          verb={destination.state === 'active' ? 'Pause' : 'Resume'}
          of={findWorkflowName(destination.workflow_id)}
          onClick={() => toggle(destination)}
        />
      ),
    },
  ]
}
