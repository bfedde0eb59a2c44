import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { sheetCall } from '../../../api/calls.ts'
import { fieldProblem, send } from '../../../api/client.ts'
import type { Input } from '../../../api/sheet.ts'
import { Combobox } from '../../../ui/combobox.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { TextField } from '../../../ui/text-field.tsx'
import { changeDefinition } from '../definition-steps.ts'
import { useSheet } from '../sheet-view.ts'

const TYPES: readonly Input['type'][] = ['string', 'url', 'email', 'number']

export function AddInput({ onClose }: { onClose: () => void }) {
  const view = useSheet()
  const { sheet, refreshDefinition } = view
  const [name, setName] = useState('')
  const [type, setType] = useState<Input['type']>('string')
  const [description, setDescription] = useState('')
  const add = useMutation({
    mutationFn: () =>
      changeDefinition(view, 'add input', () =>
        send(
          sheetCall(sheet, 'POST /inputs', {
            body: [{ name, type, ...(description === '' ? {} : { description }) }],
          }),
        ),
      ),
    onSuccess: async () => {
      await refreshDefinition()
      onClose()
    },
  })
  const [nameProblem, typeProblem] = [fieldProblem(add.error, 'name'), fieldProblem(add.error, 'type')]
  return (
    <Dialog
      open
      onClose={onClose}
      title="Add input"
      submit={{ label: 'Add', onSubmit: () => add.mutate(), busy: add.isPending }}
      error={nameProblem === undefined && typeProblem === undefined ? add.error : null}
    >
      <TextField label="Name" value={name} onChange={setName} problem={nameProblem} autoFocus />
      <Combobox label="Type" value={type} choices={TYPES} onChange={setType} problem={typeProblem} />
      <TextField
        label="Description"
        value={description}
        onChange={setDescription}
        problem={fieldProblem(add.error, 'description')}
      />
    </Dialog>
  )
}
