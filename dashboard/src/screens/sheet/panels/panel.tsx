import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react'
import { Button } from '../../../ui/button.tsx'
import { X } from '../../../ui/icons.tsx'
import { useSheet } from '../sheet-view.ts'

/** A panel to the right of the sheet, or over it on a small screen. Escape closes it, and the focus returns to where it was. */
export function Panel({
  name,
  title,
  children,
  footer,
  actions,
  onKeyDown,
}: {
  name: string
  title: ReactNode
  /** Buttons beside the title. */
  actions?: ReactNode
  onKeyDown?: (event: KeyboardEvent<HTMLElement>) => void
  children: ReactNode
  footer?: ReactNode
}) {
  const { address } = useSheet()
  const element = useRef<HTMLElement>(null)
  const close = address.closePanel
  useEffect(() => {
    const before = document.activeElement
    if (!isMenuOpen()) element.current?.focus({ preventScroll: true })
    return () => {
      if (isMenuOpen()) return
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true })
    }
  }, [])
  return (
    <section
      ref={element}
      aria-label={name}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !event.defaultPrevented) {
          event.stopPropagation()
          close()
        } else onKeyDown?.(event)
      }}
      className="flex w-[440px] shrink-0 flex-col border-l bg-bg outline-none max-lg:absolute max-lg:inset-y-0 max-lg:right-0 max-lg:z-20 max-lg:shadow-raised max-md:fixed max-md:inset-0 max-md:z-40 max-md:w-full max-md:border-l-0"
    >
      <header className="flex items-center gap-2 border-b px-4 py-2">
        <div className="min-w-0 flex-1">{title}</div>
        {actions}
        <Button kind="ghost" icon={X} iconOnly onClick={close}>
          Close
        </Button>
      </header>
      <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto px-4 py-3">{children}</div>
      {footer !== undefined && (
        <footer className="flex flex-wrap items-center gap-2 border-t px-4 py-2">{footer}</footer>
      )}
    </section>
  )
}

/** Returns true while the focus is in a menu. A menu closes when the focus leaves it, and a save replaces the panel a moment later. */
const isMenuOpen = (): boolean => document.activeElement?.closest('[role=menu]') instanceof HTMLElement

/** A part of a panel. Its name is visible and also the accessible name. */
export function Group({
  name,
  field,
  children,
  hideName,
}: {
  name: string
  /** The name of the field in the API, if the part is one. */
  field?: string
  children: ReactNode
  hideName?: boolean
}) {
  return (
    <div role="group" aria-label={name} data-field={field} className="flex flex-col gap-1.5">
      {hideName !== true && (
        <h3 aria-hidden className="text-12 font-semibold text-muted">
          {name}
        </h3>
      )}
      {children}
    </div>
  )
}
