import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import type { ListedKey as ListedKeySchema } from '#contract/settings.ts'
import { call } from '../../api/calls.ts'
import { fetchData, LIVE, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { LoadedPage } from '../../frame/loaded-page.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { plural } from '../../ui/figure.ts'
import { KeyRound } from '../../ui/icons.tsx'
import { RowAction, RowActions } from '../../ui/row-actions.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { NewKey } from './new-key.tsx'
import { RotateKey } from './rotate-key.tsx'

type ListedKey = z.infer<typeof ListedKeySchema>
type OpenDialog =
  | { verb: 'new' }
  | { verb: 'rotate' | 'revoke'; key: ListedKey }
  | { verb: 'show'; secret: string }

export function Screen() {
  const apiKeys = useQuery({
    queryKey: keys.apiKeys,
    queryFn: ({ signal }) => fetchData(call('GET /internal/keys'), { signal }),
    ...LIVE,
  })
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const queries = useQueryClient()
  const refresh = () => queries.invalidateQueries({ queryKey: keys.apiKeys })
  const close = () => setDialog(null)
  const show = (secret: string) => {
    void refresh()
    setDialog({ verb: 'show', secret })
  }
  return (
    <LoadedPage
      title="API keys"
      query={apiKeys}
      actions={
        <Button kind="primary" icon={KeyRound} onClick={() => setDialog({ verb: 'new' })}>
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
              text="A key gives a program access to the API, limited to the scopes you choose. It is shown only once."
            >
              <Button onClick={() => setDialog({ verb: 'new' })}>Create the first key</Button>
            </EmptyState>
          ) : (
            <Table
              label="API keys"
              columns={buildColumns(setDialog)}
              items={list}
              getKey={({ key_id }) => key_id}
            />
          )}
          {dialog?.verb === 'new' && <NewKey onMade={show} onClose={close} />}
          {dialog?.verb === 'rotate' && (
            <RotateKey keyId={dialog.key.key_id} last4={dialog.key.last4} onMade={show} onClose={close} />
          )}
          {dialog?.verb === 'revoke' && (
            <ConfirmDialog
              title={`Revoke key ...${dialog.key.last4}`}
              description="Programs that use this key lose access at once."
              verb="Revoke"
              run={async () => {
                await send(call('DELETE /internal/keys/:key_id', { params: { key_id: dialog.key.key_id } }))
                await refresh()
              }}
              onClose={close}
            />
          )}
          {dialog?.verb === 'show' && <KeyCreated secret={dialog.secret} onClose={close} />}
        </>
      )}
    </LoadedPage>
  )
}

/** The dialog that shows a new key. The key cannot be read again. */
function KeyCreated({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      title="Key created"
      description="Copy the key now. It will not be shown again."
      closeLabel="Done"
      footer={<CopyButton label="Copy key" text={() => secret} />}
    >
      <TextField label="Key" value={secret} onFocus={({ target }) => target.select()} />
    </Dialog>
  )
}

function buildColumns(open: (dialog: OpenDialog) => void): readonly Column<ListedKey>[] {
  return [
    { name: 'Key', cell: ({ last4 }) => <code>{`...${last4}`}</code> },
    {
      name: 'Owner',
      cell: ({ email }) => <span className="long-text">{email ?? 'removed member'}</span>,
    },
    {
      name: 'Access',
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
      name: 'Actions',
      hideName: true,
      align: 'right',
      cell: (key) =>
        key.status === 'active' && (
          <RowActions>
            <RowAction
              verb="Rotate"
              of={`key ...${key.last4}`}
              onClick={() => open({ verb: 'rotate', key })}
            />
            <RowAction
              verb="Revoke"
              of={`key ...${key.last4}`}
              onClick={() => open({ verb: 'revoke', key })}
            />
          </RowActions>
        ),
    },
  ]
}
