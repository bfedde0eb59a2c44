import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Dialog } from './dialog.tsx'

/** A dialog that confirms an action which cannot be undone, or not easily. The button repeats the verb. */
export function ConfirmDialog({
  title,
  description,
  verb,
  kind = 'danger',
  run,
  onClose,
  children,
}: {
  title: string
  description?: ReactNode
  verb: string
  kind?: 'danger' | 'primary'
  run: () => Promise<unknown>
  onClose: () => void
  children?: ReactNode
}) {
  const confirm = useMutation({ mutationFn: run, onSuccess: onClose })
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      {...(description === undefined ? {} : { description })}
      submit={{ label: verb, kind, onSubmit: () => confirm.mutate(), busy: confirm.isPending }}
      error={confirm.error}
    >
      {children}
    </Dialog>
  )
}
