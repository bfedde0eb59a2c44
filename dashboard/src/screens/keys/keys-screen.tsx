import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import type { ListedKey as ListedKeySchema } from '#contract/settings.ts'
import { get, LIVE, request } from '../../api/client.ts'
import { LoadedPage } from '../../frame/loaded-page.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { plural } from '../../ui/figure.ts'
import { KeyRound } from '../../ui/icons.tsx'
import { RowAction, RowActions } from '../../ui/row-actions.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { KeyCreated } from './key-created.tsx'
import { NewKey } from './new-key.tsx'
import { RotateKey } from './rotate-key.tsx'

type ListedKey = z.infer<typeof ListedKeySchema>
type Asked =
  | { verb: 'new' }
  | { verb: 'rotate' | 'revoke'; key: ListedKey }
  | { verb: 'show'; secret: string }

export function Screen() {
  const keys = useQuery({
    queryKey: ['keys'],
    queryFn: ({ signal }) => get<ListedKey[]>('/internal/keys', signal),
    ...LIVE,
  })
  const [asked, setAsked] = useState<Asked | null>(null)
  const queries = useQueryClient()
  const refresh = () => queries.invalidateQueries({ queryKey: ['keys'] })
  const close = () => setAsked(null)
  const show = (secret: string) => {
    void refresh()
    setAsked({ verb: 'show', secret })
  }
  return (
    <LoadedPage
      title="API keys"
      query={keys}
      actions={
        <Button kind="primary" icon={KeyRound} onClick={() => setAsked({ verb: 'new' })}>
          New key
        </Button>
      }
    >
      {(list) => (
        <>
          {list.length === 0 ? (
            <EmptyState
              icon={KeyRound}
              title="No keys yet"
              text="A key lets a program of yours use the API. It is shown once, and can do only what you choose."
            >
              <Button onClick={() => setAsked({ verb: 'new' })}>Make the first one</Button>
            </EmptyState>
          ) : (
            <Table
              label="API keys"
              columns={columnsOf(setAsked)}
              items={list}
              keyOf={({ key_id }) => key_id}
            />
          )}
          {asked?.verb === 'new' && <NewKey onMade={show} onClose={close} />}
          {asked?.verb === 'rotate' && (
            <RotateKey keyId={asked.key.key_id} last4={asked.key.last4} onMade={show} onClose={close} />
          )}
          {asked?.verb === 'revoke' && (
            <ConfirmDialog
              title={`Revoke key ...${asked.key.last4}`}
              description="Whatever uses it is refused at once."
              verb="Revoke"
              run={async () => {
                await request('DELETE', `/internal/keys/${asked.key.key_id}`)
                await refresh()
              }}
              onClose={close}
            />
          )}
          {asked?.verb === 'show' && <KeyCreated secret={asked.secret} onClose={close} />}
        </>
      )}
    </LoadedPage>
  )
}

function columnsOf(ask: (asked: Asked) => void): readonly Column<ListedKey>[] {
  return [
    { name: 'Key', cell: ({ last4 }) => <code>{`...${last4}`}</code> },
    {
      name: 'Of',
      cell: ({ email }) => <span className="long-text">{email ?? 'nobody any more'}</span>,
    },
    {
      name: 'May',
      cell: ({ scopes, allowed_workflow_ids: only }) => (
        <details>
          <summary className="cursor-pointer">
            {plural(scopes.length, 'scope')}
            {only !== null && `, ${plural(only.length, 'workflow')}`}
          </summary>
          <span className="text-12 text-muted">{scopes.join(', ')}</span>
        </details>
      ),
    },
    { name: 'Last used', cell: ({ last_used_at }) => <TimeText at={last_used_at} /> },
    {
      name: 'Expires',
      cell: ({ expires_at, status }) =>
        status === 'active' ? <TimeText at={expires_at} /> : <Badge tone="quiet">{status}</Badge>,
    },
    {
      name: 'What to do',
      hideName: true,
      align: 'right',
      cell: (key) =>
        key.status === 'active' && (
          <RowActions>
            <RowAction
              verb="Rotate"
              of={`key ...${key.last4}`}
              onClick={() => ask({ verb: 'rotate', key })}
            />
            <RowAction
              verb="Revoke"
              of={`key ...${key.last4}`}
              onClick={() => ask({ verb: 'revoke', key })}
            />
          </RowActions>
        ),
    },
  ]
}
