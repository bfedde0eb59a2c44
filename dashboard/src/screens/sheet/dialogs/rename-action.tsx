import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldProblem, request } from '../../../api/client.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { TextField } from '../../../ui/text-field.tsx'
import type { ActionColumn } from '../columns.ts'
import { changeDefinition } from '../definition-steps.ts'
import { useSheet } from '../sheet-view.ts'

export function RenameAction({ column, onClose }: { column: ActionColumn; onClose: () => void }) {
  const view = useSheet()
  const { path, refreshDefinition } = view
  const [name, setName] = useState(column.name)
  const rename = useMutation({
    mutationFn: () =>
      changeDefinition(view, 'rename', () =>
        request('PATCH', `${path}/actions/${encodeURIComponent(column.key)}/name`, { name }),
      ),
    onSuccess: async () => {
      await refreshDefinition()
      onClose()
    },
  })
  const problem = fieldProblem(rename.error, 'name')
  return (
    <Dialog
      open
      onClose={onClose}
      title="Rename action"
      submit={{ label: 'Save', onSubmit: () => rename.mutate(), busy: rename.isPending }}
      error={problem === undefined ? rename.error : null}
    >
      <TextField label="Name" value={name} onChange={setName} problem={problem} autoFocus />
    </Dialog>
  )
}
