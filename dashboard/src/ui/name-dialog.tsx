import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldProblem } from '../api/client.ts'
import { Dialog } from './dialog.tsx'
import { TextField } from './text-field.tsx'

/** A dialog that asks for the name of a new or renamed thing. An error about the name is shown at its field. */
export function NameDialog<Saved>({
  title,
  verb = 'Save',
  start = '',
  save,
  onSaved,
  onClose,
}: {
  title: string
  verb?: string
  start?: string
  save: (name: string) => Promise<Saved>
  /** Runs before the dialog closes. */
  onSaved: (saved: Saved) => Promise<unknown>
  onClose: () => void
}) {
  const [name, setName] = useState(start)
  const saving = useMutation({
    mutationFn: () => save(name),
    onSuccess: async (saved) => {
      await onSaved(saved)
      onClose()
    },
  })
  const problem = fieldProblem(saving.error, 'name')
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      submit={{ label: verb, onSubmit: () => saving.mutate(), busy: saving.isPending }}
      error={problem === undefined ? saving.error : null}
    >
      <TextField label="Name" value={name} onChange={setName} problem={problem} autoFocus />
    </Dialog>
  )
}
