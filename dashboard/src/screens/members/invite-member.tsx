import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ROLES } from '#contract/scopes.ts'
import { onlyFieldProblem, post } from '../../api/client.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { notify } from '../../ui/toasts.tsx'

export function InviteMember({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState('member')
  const queries = useQueryClient()
  const invite = useMutation({
    mutationFn: () => post<{ email: string; email_sent: boolean }>('/internal/members', { email, role }),
    onSuccess: async (made) => {
      await queries.invalidateQueries({ queryKey: ['members'] })
      notify(
        made.email_sent
          ? `The invitation of ${made.email} was mailed`
          : `No mail was sent: copy the link for ${made.email} and pass it on`,
      )
      onClose()
    },
  })
  const problem = onlyFieldProblem(invite.error, 'email')
  return (
    <Dialog
      open
      onClose={onClose}
      title="Invite"
      description="The invitation is valid for 14 days."
      submit={{ label: 'Send invitation', onSubmit: () => invite.mutate(), busy: invite.isPending }}
      error={problem === undefined ? invite.error : null}
    >
      <TextField label="Email" type="email" value={email} onChange={setEmail} problem={problem} autoFocus />
      <Combobox
        label="Role"
        value={role}
        choices={ROLES}
        onChange={setRole}
        hint="admin: everything; member: workflows of their own and those shared with them; user: runs shortcuts and sources"
      />
    </Dialog>
  )
}
