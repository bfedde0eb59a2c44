import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldProblem, get, request } from '../../api/client.ts'
import { useSession } from '../../api/session.ts'
import { overviewQuery, type Workflow } from '../../api/workflows.ts'
import { Button } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { X } from '../../ui/icons.tsx'

/** Who of the organisation may open it besides its owner. */
export function ShareWorkflow({ workflow, onClose }: { workflow: Workflow; onClose: () => void }) {
  const [email, setEmail] = useState('')
  const session = useSession()
  const queries = useQueryClient()
  const overview = useQuery(overviewQuery(workflow.workflow_id))
  const user = useQuery({
    queryKey: ['user'],
    queryFn: ({ signal }) => get<{ org_members: { emails: string[] } }>('/user', signal),
  })
  const path = `/internal/workflows/${workflow.workflow_id}/share`
  const change = useMutation({
    mutationFn: ({ method, address }: { method: 'POST' | 'DELETE'; address: string }) =>
      method === 'POST'
        ? request(method, path, { email: address })
        : request(method, `${path}/${encodeURIComponent(address)}`),
    onSuccess: async () => {
      setEmail('')
      await queries.invalidateQueries({ queryKey: overviewQuery(workflow.workflow_id).queryKey })
    },
  })
  const shared = overview.data?.shared_users ?? []
  const others = (user.data?.org_members.emails ?? []).filter(
    (one) => one !== session.email && !shared.includes(one),
  )
  const problem = fieldProblem(change.error, 'email')
  const isOwner = overview.data?.is_owner !== false
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Share ${workflow.name}`}
      description={
        isOwner ? 'Members whom you add can open, change and run it.' : 'Only its owner can share it.'
      }
      {...(isOwner
        ? {
            submit: {
              label: 'Share',
              onSubmit: () => change.mutate({ method: 'POST', address: email }),
              disabled: email === '',
              busy: change.isPending,
            },
          }
        : {})}
      error={problem === undefined ? change.error : null}
    >
      {isOwner && (
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
