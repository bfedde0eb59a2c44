import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { sheetCall } from '../../../api/calls.ts'
import { fieldProblem, send } from '../../../api/client.ts'
import { Combobox } from '../../../ui/combobox.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { TextField } from '../../../ui/text-field.tsx'
import { changeDefinition } from '../definition-steps.ts'
import { INPUT_TYPE_CHOICES, type InputType, readChoices } from '../input-types.ts'
import { useSheet } from '../sheet-view.ts'
import { ChoicesField } from './choices-field.tsx'

export function AddInput({ onClose }: { onClose: () => void }) {
  const view = useSheet()
  const { sheet, refreshDefinition } = view
  const [name, setName] = useState('')
  const [type, setType] = useState<InputType>('string')
  const [choices, setChoices] = useState('')
  const [description, setDescription] = useState('')
  const add = useMutation({
    mutationFn: () =>
      changeDefinition(view, `add input ${name.trim()}`, () =>
        send(
          sheetCall(sheet, 'POST /inputs', {
            body: [
              {
                name,
                type,
                ...(type === 'select' ? { choices: readChoices(choices) } : {}),
                ...(description === '' ? {} : { description }),
              },
            ],
          }),
        ),
      ),
    onSuccess: async () => {
      await refreshDefinition()
      onClose()
    },
  })
  const [nameProblem, typeProblem] = [fieldProblem(add.error, 'name'), fieldProblem(add.error, 'type')]
  const choicesProblem = fieldProblem(add.error, 'choices')
  const isAtField = [nameProblem, typeProblem, choicesProblem].some((problem) => problem !== undefined)
  return (
    <Dialog
      open
      onClose={onClose}
      title="Add input"
      submit={{ label: 'Add', onSubmit: () => add.mutate(), busy: add.isPending }}
      error={isAtField ? null : add.error}
    >
      <TextField label="Name" value={name} onChange={setName} problem={nameProblem} autoFocus />
      <Combobox
        label="Type"
        value={type}
        choices={INPUT_TYPE_CHOICES}
        onChange={setType}
        problem={typeProblem}
      />
      {type === 'select' && <ChoicesField value={choices} onChange={setChoices} problem={choicesProblem} />}
      <TextField
        label="Description"
        value={description}
        onChange={setDescription}
        problem={fieldProblem(add.error, 'description')}
      />
    </Dialog>
  )
}
