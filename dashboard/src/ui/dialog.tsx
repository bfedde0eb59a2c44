import { Dialog as Radix } from 'radix-ui'
import type { FormEvent, ReactNode } from 'react'
import { isTransient } from '../api/client.ts'
import { Button } from './button.tsx'
import { classNames } from './class-names.ts'
import { Problem } from './problem.tsx'
import { useReturnFocus } from './return-focus.ts'

type Props = {
  open: boolean
  onClose: () => void
  title: string
  description?: ReactNode
  children?: ReactNode
  /** The submit button. Without it there is only the close button, labelled `Cancel` or `closeLabel`. */
  submit?: {
    label: string
    onSubmit: () => void
    kind?: 'primary' | 'danger'
    disabled?: boolean
    busy?: boolean
  }
  footer?: ReactNode
  closeLabel?: string
  error?: unknown
  /** `gallery` is for a list with a column of choices beside it. */
  wide?: boolean | 'gallery'
}

/** Keeps the dialog open while the list of a field is open: Escape then closes only the list. */
function keepOpenForList(event: KeyboardEvent): void {
  if (document.querySelector(':popover-open') !== null) event.preventDefault()
}

/** A modal dialog. Enter submits; Escape, `Cancel` and the backdrop close it; the focus returns to where it was. */
export function Dialog({
  open,
  onClose,
  title,
  description,
  children,
  submit,
  footer,
  closeLabel,
  error,
  wide,
}: Props) {
  const returnFocus = useReturnFocus(open)
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    // A dialog inside the form of another dialog must not submit both.
    event.stopPropagation()
    if (submit !== undefined && submit.disabled !== true && submit.busy !== true) submit.onSubmit()
  }
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-[rgb(10_12_16/45%)]" />
        <Radix.Content
          onCloseAutoFocus={returnFocus}
          onEscapeKeyDown={keepOpenForList}
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
          className={classNames(
            'fixed top-[12vh] left-1/2 z-50 flex max-h-[80vh] w-[calc(100vw-32px)] -translate-x-1/2 animate-pop flex-col',
            'rounded-lg border bg-raised shadow-raised',
            wide === 'gallery' ? 'max-w-[880px]' : wide === true ? 'max-w-[640px]' : 'max-w-[440px]',
          )}
        >
          <form onSubmit={onSubmit} className="flex min-h-0 flex-col" noValidate>
            <div className="px-5 pt-4">
              <Radix.Title className="text-16 font-semibold">{title}</Radix.Title>
              {description !== undefined && (
                <Radix.Description className="mt-1 text-muted">{description}</Radix.Description>
              )}
            </div>
            <div className="flex min-h-0 flex-col gap-3 overflow-y-auto px-5 py-4">
              {children}
              {error !== undefined && error !== null && (
                <Problem
                  error={error}
                  {...(submit !== undefined && isTransient(error) ? { onRetry: submit.onSubmit } : {})}
                />
              )}
            </div>
            <div className="flex flex-wrap items-center justify-end gap-2 border-t px-5 py-3">
              {footer}
              <Button onClick={onClose}>{closeLabel ?? 'Cancel'}</Button>
              {submit !== undefined && (
                <Button
                  type="submit"
                  kind={submit.kind ?? 'primary'}
                  disabled={submit.disabled === true}
                  busy={submit.busy === true}
                >
                  {submit.label}
                </Button>
              )}
            </div>
          </form>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
