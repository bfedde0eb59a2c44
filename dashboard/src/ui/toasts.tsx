import { useEffect, useSyncExternalStore } from 'react'
import { ApiError, isTransient } from '../api/client.ts'
import { Button } from './button.tsx'
import { X } from './icons.tsx'
import { getErrorText } from './problem.tsx'

type Toast = {
  id: number
  text: string
  kind: 'note' | 'problem'
  action?: { label: string; run: () => void }
}

/** The time a toast stays: long enough to press `Undo`, which the server allows for 10 s. */
const SHOWN_MS = 9000
const MAX_SHOWN = 4

let toasts: readonly Toast[] = []
let serial = 0
const listeners = new Set<() => void>()

function set(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

export function notify(text: string, action?: Toast['action']): void {
  serial += 1
  const toast: Toast = { id: serial, text, kind: 'note', ...(action === undefined ? {} : { action }) }
  set([...toasts, toast].slice(-MAX_SHOWN))
}

/** Shows an error as a toast. `retry` is offered if a retry may succeed. */
export function notifyProblem(error: unknown, retry?: () => void): void {
  serial += 1
  const id = error instanceof ApiError && error.requestId !== null ? ` (request ${error.requestId})` : ''
  const toast: Toast = {
    id: serial,
    text: `${getErrorText(error)}${id}`,
    kind: 'problem',
    ...(retry !== undefined && isTransient(error) ? { action: { label: 'Retry', run: retry } } : {}),
  }
  set([...toasts, toast].slice(-MAX_SHOWN))
}

const dismiss = (id: number) => set(toasts.filter((toast) => toast.id !== id))

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )
  return (
    <section
      aria-label="Notifications"
      className="pointer-events-none fixed bottom-11 left-4 z-60 flex w-[360px] max-w-[calc(100vw-32px)] flex-col gap-2 md:left-[204px]"
    >
      {shown.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
    </section>
  )
}

function ToastCard({ toast }: { toast: Toast }) {
  useEffect(() => {
    if (toast.kind === 'problem') return
    const timer = setTimeout(() => dismiss(toast.id), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [toast])
  return (
    <div
      role={toast.kind === 'problem' ? 'alert' : 'status'}
      className="pointer-events-auto flex animate-pop items-center gap-2 rounded-md border bg-raised px-3 py-2 shadow-raised"
    >
      <span
        className={
          toast.kind === 'problem' ? 'min-w-0 flex-1 break-words text-failed' : 'min-w-0 flex-1 break-words'
        }
      >
        {toast.text}
      </span>
      {toast.action !== undefined && (
        <Button
          size="small"
          onClick={() => {
            toast.action?.run()
            dismiss(toast.id)
          }}
        >
          {toast.action.label}
        </Button>
      )}
      <Button kind="ghost" size="small" icon={X} iconOnly onClick={() => dismiss(toast.id)}>
        Dismiss
      </Button>
    </div>
  )
}
