import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Role, ROLES } from '#contract/scopes.ts'
import type { Roster } from '#contract/settings.ts'
import { call } from '../../api/calls.ts'
import { fetchData, LIVE, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { LoadedPage } from '../../frame/loaded-page.tsx'
import { Button } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { plural } from '../../ui/figure.ts'
import { UserPlus } from '../../ui/icons.tsx'
import { RowAction } from '../../ui/row-actions.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { notifyProblem } from '../../ui/toasts.tsx'
import { InviteMember } from './invite-member.tsx'
import { PendingInvitations } from './pending-invitations.tsx'
import { RemoveMember } from './remove-member.tsx'

type Member = Roster['members'][number]

export function Screen() {
  const roster = useQuery({
    queryKey: keys.members,
    queryFn: ({ signal }) => fetchData(call('GET /internal/members'), { signal }),
    ...LIVE,
  })
  const [isInviting, setInviting] = useState(false)
  const [removed, setRemoved] = useState<string | null>(null)
  return (
    <LoadedPage
      title="Members"
      query={roster}
      actions={
        <Button kind="primary" icon={UserPlus} onClick={() => setInviting(true)}>
          Invite
        </Button>
      }
    >
      {({ members, invitations, member_limit, mail }) => (
        <>
          <Table
            label="Members"
            columns={buildColumns(setRemoved)}
            items={members}
            getKey={({ email }) => email}
          />
          {member_limit !== null && (
            <p className="text-muted">{`${members.length + invitations.length} of ${plural(member_limit, 'seat')} used, pending invitations included.`}</p>
          )}
          <PendingInvitations invitations={invitations} mail={mail} />
          {isInviting && <InviteMember mail={mail} onClose={() => setInviting(false)} />}
          {removed !== null && <RemoveMember email={removed} onClose={() => setRemoved(null)} />}
        </>
      )}
    </LoadedPage>
  )
}

function buildColumns(remove: (email: string) => void): readonly Column<Member>[] {
  return [
    {
      name: 'Email',
      cell: ({ email, is_you }) => (
        <span className="long-text font-medium">
          {email}
          {is_you && <span className="font-normal text-muted"> (you)</span>}
        </span>
      ),
    },
    {
      name: 'Name',
      wideOnly: true,
      cell: ({ first_name, last_name }) => [first_name, last_name].filter(Boolean).join(' '),
    },
    { name: 'Role', cell: (member) => <RoleField member={member} /> },
    {
      name: 'Actions',
      hideName: true,
      align: 'right',
      cell: ({ email }) => <RowAction verb="Remove" of={email} onClick={() => remove(email)} />,
    },
  ]
}

function RoleField({ member: { email, role } }: { member: Member }) {
  const queries = useQueryClient()
  const change = useMutation({
    mutationFn: (next: Role) =>
      send(call('PATCH /internal/members/:email', { params: { email }, body: { role: next } })),
    onSettled: () => queries.invalidateQueries({ queryKey: keys.members }),
    onError: (error, next) => notifyProblem(error, () => change.mutate(next)),
  })
  return (
    <div className="w-32">
      <Combobox
        label={`Role of ${email}`}
        hideLabel
        value={change.isPending ? change.variables : role}
        choices={ROLES}
        onChange={(next) => {
          if (next !== role && !change.isPending) change.mutate(next)
        }}
      />
    </div>
  )
}
