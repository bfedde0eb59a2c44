import type { ReactNode } from 'react'
import { Button } from './button.tsx'

/** The buttons of a row, at its end. */
export function RowActions({ children }: { children: ReactNode }) {
  return <div className="flex gap-1 max-md:flex-wrap md:justify-end">{children}</div>
}

/** `Remove`, named `Remove ada@example.com`. */
export function RowAction({
  verb,
  of,
  onClick,
  busy = false,
}: {
  verb: string
  of: string
  onClick: () => void
  busy?: boolean
}) {
  return (
    <Button size="small" aria-label={`${verb} ${of}`} onClick={onClick} busy={busy}>
      {verb}
    </Button>
  )
}
