import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/calls.ts'
import { fieldProblem, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { workflowsQuery } from '../../api/workflows.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextArea, TextField } from '../../ui/text-field.tsx'
import { notify } from '../../ui/toasts.tsx'

export function PublishShortcut({ workflowId, onClose }: { workflowId: string; onClose: () => void }) {
  const workflows = useQuery(workflowsQuery)
  const [workflow, setWorkflow] = useState(workflowId)
  const [typed, setTyped] = useState<string | null>(null)
  const [description, setDescription] = useState('')
  const navigate = useNavigate()
  const queries = useQueryClient()
  const found = workflows.data?.find(({ workflow_id }) => workflow_id === workflow)
  const name = typed ?? found?.name ?? ''
  const publish = useMutation({
    mutationFn: () =>
      send(call('POST /internal/shortcuts', { body: { workflow_id: workflow, name, description } })),
    onSuccess: async ({ data, warnings }) => {
      await queries.invalidateQueries({ queryKey: keys.shortcuts })
      notify(warnings[0]?.message ?? `Published ${data.name}`)
      onClose()
      await navigate({ to: '/shortcuts/$id', params: { id: data.id } })
    },
  })
  const problem = (field: string) => fieldProblem(publish.error, field)
  const isShown = problem('workflow_id') !== undefined || problem('name') !== undefined
  return (
    <Dialog
      open
      onClose={onClose}
      title="Publish shortcut"
      description="The form shows the inputs of the main sheet, the result shows the outputs of its actions."
      submit={{
        label: 'Publish',
        onSubmit: () => publish.mutate(),
        busy: publish.isPending,
        // The default name is unknown until the workflows are loaded.
        disabled: workflow === '' || workflows.isPending,
      }}
      error={isShown ? null : publish.error}
    >
      <Combobox
        label="Workflow"
        value={workflow}
        choices={(workflows.data ?? []).map(({ workflow_id, name: label }) => ({
          value: workflow_id,
          label,
        }))}
        onChange={setWorkflow}
        problem={problem('workflow_id')}
      />
      <TextField label="Name" value={name} onChange={setTyped} problem={problem('name')} />
      <TextArea label="Description" value={description} onChange={setDescription} />
    </Dialog>
  )
}
