import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { SegmentSync } from '#contract/segment-syncs.ts'
import { request } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Table } from '../../ui/table.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { notifyProblem } from '../../ui/toasts.tsx'

const WORDS = { filter_changed: 'the filter was changed', flood: 'so many came at once' } as const

/** What a sync has delivered, what it holds back and why, and what can be done about it. */
export function SyncCard({
  sync,
  name,
  nameOf,
}: {
  sync: SegmentSync
  name: string
  nameOf: (workflowId: string) => string
}) {
  const [isDeleting, setDeleting] = useState(false)
  const queries = useQueryClient()
  const path = `/records/syncs/${sync.sync_id}`
  const refresh = () => queries.invalidateQueries({ queryKey: ['syncs'] })
  const act = useMutation({
    mutationFn: ({ to, body }: { to: string; body?: object }) => request('POST', `${path}${to}`, body),
    onSuccess: refresh,
    onError: notifyProblem,
  })
  return (
    <section aria-label={`Sync of ${name}`} className="flex flex-col gap-3 rounded-lg border p-4">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="mr-auto text-14 font-semibold">{`Sync of ${name}`}</h2>
        {sync.state === 'paused_error' && (
          <Button busy={act.isPending} onClick={() => act.mutate({ to: '/resume' })}>
            Resume sync
          </Button>
        )}
        <Button size="small" aria-label={`Delete sync of ${name}`} onClick={() => setDeleting(true)}>
          Delete
        </Button>
      </div>
      <p className="text-muted">
        {`State: ${sync.state}. Last cycle: `}
        <TimeText at={sync.last_cycle_at} />
        {sync.last_import_error !== null && `. Last error: ${sync.last_import_error.message}`}
      </p>
      {sync.held_count > 0 && (
        <div role="status" className="flex flex-wrap items-center gap-2 rounded-md bg-subtle px-3 py-2">
          <span className="mr-auto">
            {`${sync.held_count.toLocaleString('en')} members are held${sync.held_reason === null ? '' : ` because ${WORDS[sync.held_reason]}`}`}
          </span>
          <Button onClick={() => act.mutate({ to: '/confirm', body: { choice: 'push' } })}>
            Push held members
          </Button>
          <Button onClick={() => act.mutate({ to: '/confirm', body: { choice: 'skip' } })}>
            Skip held members
          </Button>
        </div>
      )}
      <Table
        label={`Destinations of ${name}`}
        items={sync.destinations}
        keyOf={({ connection_id }) => connection_id}
        columns={[
          { name: 'Workflow', cell: ({ workflow_id }) => nameOf(workflow_id) },
          { name: 'State', cell: ({ state }) => state },
          { name: 'Delivered', align: 'right', cell: ({ delivered }) => delivered.toLocaleString('en') },
          { name: 'Waiting', align: 'right', cell: ({ pending }) => pending.toLocaleString('en') },
          {
            name: 'Failed',
            align: 'right',
            wideOnly: true,
            cell: ({ failed }) => failed.toLocaleString('en'),
          },
          {
            name: 'What to do',
            hideName: true,
            align: 'right',
            cell: ({ connection_id, state, workflow_id }) => (
              <Button
                size="small"
                aria-label={`${state === 'active' ? 'Pause' : 'Resume'} ${nameOf(workflow_id)}`}
                onClick={() =>
                  act.mutate({
                    to: `/destinations/${connection_id}/${state === 'active' ? 'pause' : 'resume'}`,
                  })
                }
              >
                {state === 'active' ? 'Pause' : 'Resume'}
              </Button>
            ),
          },
        ]}
      />
      {isDeleting && (
        <ConfirmDialog
          title={`Delete sync of ${name}`}
          description="Nothing is delivered any more; delivered rows stay."
          verb="Delete"
          run={async () => {
            await request('DELETE', path)
            await refresh()
          }}
          onClose={() => setDeleting(false)}
        />
      )}
    </section>
  )
}
