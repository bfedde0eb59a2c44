import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { z } from 'zod'
import type { Connection as ConnectionSchema } from '#contract/settings.ts'
import { call } from '../../api/calls.ts'
import { fetchData, LIVE, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { LoadedPage } from '../../frame/loaded-page.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Link2 } from '../../ui/icons.tsx'
import { RowAction, RowActions } from '../../ui/row-actions.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { notify, notifyProblem } from '../../ui/toasts.tsx'
import { NewConnection } from './new-connection.tsx'

type Connection = z.infer<typeof ConnectionSchema>

export function Screen() {
  const connections = useQuery({
    queryKey: keys.connections,
    queryFn: ({ signal }) => fetchData(call('GET /internal/connections'), { signal }),
    ...LIVE,
  })
  const [isMaking, setMaking] = useState(false)
  const [removed, setRemoved] = useState<Connection | null>(null)
  const queries = useQueryClient()
  const refresh = () => queries.invalidateQueries({ queryKey: keys.connections })
  return (
    <LoadedPage
      title="Connections"
      query={connections}
      actions={
        <Button kind="primary" icon={Link2} onClick={() => setMaking(true)}>
          New connection
        </Button>
      }
    >
      {(list) => (
        <>
          {list.length === 0 ? (
            <EmptyState
              icon={Link2}
              title="No connections yet"
              text="Connect your own account with a provider. Calls with your own key cost no credits."
            >
              <Button onClick={() => setMaking(true)}>Connect an account</Button>
            </EmptyState>
          ) : (
            <Table
              label="Connections"
              columns={buildColumns(setRemoved)}
              items={list}
              getKey={({ connection_id }) => connection_id}
            />
          )}
          {isMaking && <NewConnection onMade={() => void refresh()} onClose={() => setMaking(false)} />}
          {removed !== null && (
            <ConfirmDialog
              title={`Remove ${removed.name}`}
              description={
                removed.used_by.length === 0
                  ? 'No workflow uses this connection.'
                  : `Actions in ${removed.used_by.map(({ name }) => name).join(', ')} use this connection and will fail without it.`
              }
              verb="Remove"
              run={async () => {
                await send(
                  call('DELETE /internal/connections/:connection_id', {
                    params: { connection_id: removed.connection_id },
                  }),
                )
                await refresh()
              }}
              onClose={() => setRemoved(null)}
            />
          )}
        </>
      )}
    </LoadedPage>
  )
}

function buildColumns(remove: (connection: Connection) => void): readonly Column<Connection>[] {
  return [
    { name: 'Name', cell: ({ name }) => <span className="long-text font-medium">{name}</span> },
    { name: 'Provider', cell: ({ provider_name }) => provider_name },
    {
      name: 'Used by',
      wideOnly: true,
      cell: ({ used_by }) => (
        <ul className="flex flex-wrap gap-x-2">
          {used_by.length === 0 && <li className="text-muted">not used</li>}
          {used_by.map(({ workflow_id, name }) => (
            <li key={workflow_id}>
              <Link
                to="/workflows/$workflowId"
                params={{ workflowId: workflow_id }}
                className="text-accent-text underline"
              >
                {name}
              </Link>
            </li>
          ))}
        </ul>
      ),
    },
    {
      name: 'Owner',
      wideOnly: true,
      cell: ({ owner, shared }) => (
        <span className="long-text">{`${owner ?? 'The organisation'}${shared ? ', shared with everybody' : ''}`}</span>
      ),
    },
    {
      name: 'Actions',
      hideName: true,
      align: 'right',
      cell: (connection) => (
        <RowActions>
          <TestButton connection={connection} />
          {connection.may_remove && (
            <RowAction verb="Remove" of={connection.name} onClick={() => remove(connection)} />
          )}
        </RowActions>
      ),
    },
  ]
}

function TestButton({ connection: { connection_id, name } }: { connection: Connection }) {
  const test = useMutation({
    mutationFn: () =>
      fetchData(call('POST /internal/connections/:connection_id/test', { params: { connection_id } })),
    onSuccess: ({ ok, message }) =>
      ok ? notify(`${name}: ${message}`) : notifyProblem(new Error(`${name}: ${message}`)),
    onError: (error) => notifyProblem(error, () => test.mutate()),
  })
  return <RowAction verb="Test" of={name} busy={test.isPending} onClick={() => test.mutate()} />
}
