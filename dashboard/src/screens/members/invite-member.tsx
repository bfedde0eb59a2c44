import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Role, ROLES } from '#contract/scopes.ts'
import { call } from '../../api/calls.ts'
import { fetchData, onlyFieldProblem } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { notify } from '../../ui/toasts.tsx'

function describe({ email, email_sent }: { email: string; email_sent: boolean }, mail: boolean): string {
  if (email_sent) return `Invitation sent to ${email}`
  return mail
    ? `The invitation could not be mailed to ${email}. Revoke it and invite again`
    : `This server sends no mail. Copy the link and give it only to ${email}`
}

export function InviteMember({ mail, onClose }: { mail: boolean; onClose: () => void }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('member')
  const queries = useQueryClient()
  const invite = useMutation({
    mutationFn: () => fetchData(call('POST /internal/members', { body: { email, role } })),
    onSuccess: async (made) => {
      await queries.invalidateQueries({ queryKey: keys.members })
      notify(describe(made, mail))
      onClose()
    },
  })
  const problem = onlyFieldProblem(invite.error, 'email')
  return (
    <Dialog
      open
      onClose={onClose}
      title="Invite"
      description={
        mail
          ? 'The invitation is sent by mail. Its link is valid for 14 days.'
          : 'This server sends no mail. You get a link to pass on, valid for 14 days.'
      }
      submit={{
        label: mail ? 'Send invitation' : 'Create invitation',
        onSubmit: () => invite.mutate(),
        busy: invite.isPending,
      }}
      error={problem === undefined ? invite.error : null}
    >
      <TextField label="Email" type="email" value={email} onChange={setEmail} problem={problem} autoFocus />
      <Combobox
        label="Role"
        value={role}
        choices={ROLES}
        onChange={setRole}
        hint="admin: full access; member: own and shared workflows; user: only sources and shortcuts"
      />
    </Dialog>
  )
}
