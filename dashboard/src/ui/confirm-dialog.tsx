import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Dialog } from './dialog.tsx'

/** Asks before something is destroyed; the button repeats the verb. */
export function ConfirmDialog({
  title,
  description,
  verb,
  run,
  onClose,
  children,
}: {
  title: string
  description?: ReactNode
  verb: string
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
      submit={{ label: verb, kind: 'danger', onSubmit: () => confirm.mutate(), busy: confirm.isPending }}
      error={confirm.error}
    >
      {children}
    </Dialog>
  )
}
