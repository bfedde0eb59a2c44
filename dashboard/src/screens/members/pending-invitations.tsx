import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Roster } from '#contract/settings.ts'
import { call } from '../../api/calls.ts'
import { send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { RowActions } from '../../ui/row-actions.tsx'
import { Table } from '../../ui/table.tsx'
import { TimeText } from '../../ui/time-text.tsx'

const MAILED = {
  name: 'Mail',
  cell: ({ email_sent }: Roster['invitations'][number]) =>
    email_sent ? 'sent' : <span className="text-failed">not sent: revoke and invite again</span>,
}

/** The list of invitations that have not been accepted. If the server sends no mail, an administrator passes the links on. */
export function PendingInvitations({ invitations, mail }: Pick<Roster, 'invitations' | 'mail'>) {
  const [revoked, setRevoked] = useState<string | null>(null)
  const queries = useQueryClient()
  if (invitations.length === 0) return null
  return (
    <section aria-label="Pending" className="flex flex-col gap-2">
      <h2 className="text-14 font-semibold">Pending invitations</h2>
      {!mail && (
        <p className="text-muted">
          This server sends no mail, so pass each link on yourself. Anyone who opens a link joins and is
          signed in as the invited address: give the link only to that person.
        </p>
      )}
      <Table
        label="Pending invitations"
        items={invitations}
        getKey={({ email }) => email}
        columns={[
          { name: 'Email', cell: ({ email }) => <span className="long-text font-medium">{email}</span> },
          { name: 'Role', cell: ({ role }) => role },
          ...(mail ? [MAILED] : []),
          { name: 'Invited', wideOnly: true, cell: ({ created_at }) => <TimeText at={created_at} /> },
          { name: 'Expires', wideOnly: true, cell: ({ expires_at }) => <TimeText at={expires_at} /> },
          {
            name: 'Actions',
            hideName: true,
            align: 'right',
            cell: ({ email, link }) => (
              <RowActions>
                {link !== null && (
                  <CopyButton
                    size="small"
                    label="Copy link"
                    aria-label={`Copy link for ${email}`}
                    text={() => link}
                  />
                )}
                <Button
                  size="small"
                  aria-label={`Revoke invitation of ${email}`}
                  onClick={() => setRevoked(email)}
                >
                  Revoke
                </Button>
              </RowActions>
            ),
          },
        ]}
      />
      {revoked !== null && (
        <ConfirmDialog
          title={`Revoke invitation of ${revoked}`}
          description="The link stops working at once."
          verb="Revoke"
          run={async () => {
            await send(call('DELETE /internal/members/:email', { params: { email: revoked } }))
            await queries.invalidateQueries({ queryKey: keys.members })
          }}
          onClose={() => setRevoked(null)}
        />
      )}
    </section>
  )
}
