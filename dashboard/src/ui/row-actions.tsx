import type { ReactNode } from 'react'
import { Button } from './button.tsx'

/** The buttons at the end of a table row. */
export function RowActions({ children }: { children: ReactNode }) {
  return <div className="flex gap-1 max-md:flex-wrap md:justify-end">{children}</div>
}

/** A button whose label is a verb, such as `Remove`, and whose accessible name adds the thing: `Remove ada@example.com`. */
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
