import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { fieldProblem, post } from '../../api/client.ts'
import { workflowsQuery } from '../../api/workflows.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/text-field.tsx'

/** Then it is opened: blank, or where its file is imported. */
export function NewWorkflow({ then, onClose }: { then: 'blank' | 'file'; onClose: () => void }) {
  const [name, setName] = useState('')
  const navigate = useNavigate()
  const queries = useQueryClient()
  const create = useMutation({
    mutationFn: () => post<{ workflow_id: string }>('/workflows', { name }),
    onSuccess: async ({ workflow_id: id }) => {
      await queries.invalidateQueries({ queryKey: workflowsQuery.queryKey })
      onClose()
      await navigate({ to: `/workflows/${id}/sheets/${id}${then === 'file' ? '/import' : ''}` })
    },
  })
  const problem = fieldProblem(create.error, 'name')
  return (
    <Dialog
      open
      onClose={onClose}
      title="New workflow"
      submit={{ label: 'Create', onSubmit: () => create.mutate(), busy: create.isPending }}
      error={problem === undefined ? create.error : null}
    >
      <TextField label="Name" value={name} onChange={setName} problem={problem} autoFocus />
    </Dialog>
  )
}
