import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/calls.ts'
import { fetchData, onlyFieldProblem, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useSession } from '../../api/session.ts'
import type { Workflow } from '../../api/workflows.ts'
import { Button } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { X } from '../../ui/icons.tsx'

/** The dialog with the members who can open a workflow besides its owner. */
export function ShareWorkflow({ workflow, onClose }: { workflow: Workflow; onClose: () => void }) {
  const [email, setEmail] = useState('')
  const session = useSession()
  const queries = useQueryClient()
  const user = useQuery({
    queryKey: keys.user,
    queryFn: ({ signal }) => fetchData(call('GET /user'), { signal }),
  })
  const params = { workflow_id: workflow.workflow_id }
  const sharing = useQuery({
    queryKey: keys.sharing(workflow.workflow_id),
    queryFn: ({ signal }) =>
      fetchData(call('GET /internal/workflows/:workflow_id/share', { params }), { signal }),
  })
  const change = useMutation({
    mutationFn: ({ method, address }: { method: 'POST' | 'DELETE'; address: string }) =>
      method === 'POST'
        ? send(call('POST /internal/workflows/:workflow_id/share', { params, body: { email: address } }))
        : send(
            call('DELETE /internal/workflows/:workflow_id/share/:email', {
              params: { ...params, email: address },
            }),
          ),
    onSuccess: async () => {
      setEmail('')
      await queries.invalidateQueries({ queryKey: keys.workflows })
    },
  })
  const shared = (sharing.data?.shared_with ?? []).map((one) => one.email)
  const others = (user.data?.org_members.emails ?? []).filter(
    (one) => one !== session.email && one !== sharing.data?.owner && !shared.includes(one),
  )
  const problem = onlyFieldProblem(change.error, 'email')
  const mayShare = sharing.data?.may_share !== false
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Share ${workflow.name}`}
      description={
        mayShare
          ? 'The members you add can open, change and run this workflow.'
          : 'Only the owner or an administrator can share this workflow.'
      }
      {...(mayShare
        ? {
            submit: {
              label: 'Share',
              onSubmit: () => change.mutate({ method: 'POST', address: email }),
              disabled: email === '',
              busy: change.isPending,
            },
          }
        : {})}
      error={problem === undefined ? (change.error ?? sharing.error) : null}
    >
      {mayShare && (
        <Combobox label="Email" value={email} choices={others} onChange={setEmail} problem={problem} free />
      )}
      {shared.length > 0 && (
        <ul aria-label="Shared with" className="flex flex-col gap-1">
          {shared.map((address) => (
            <li key={address} className="flex items-center justify-between gap-2">
              <span className="truncate">{address}</span>
              <Button
                kind="ghost"
                size="small"
                icon={X}
                iconOnly
                onClick={() => change.mutate({ method: 'DELETE', address })}
              >
                {`Stop sharing with ${address}`}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  )
}
