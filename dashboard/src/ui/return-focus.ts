import { useEffect, useRef } from 'react'

type Trail = readonly Element[]

/** Of every dialog that is open: what had the focus before it, and before the dialog that opened it. */
const trails: Trail[] = []

/** For `onCloseAutoFocus` of a dialog without a trigger of its own: the focus goes back to where it was when it opened. */
export function useReturnFocus(open: boolean): (event: Event) => void {
  const trail = useRef<Trail>([])
  const wasOpen = useRef(false)
  // While it renders open for the first time the focus has not moved yet.
  if (open && !wasOpen.current) trail.current = trailTo(document.activeElement)
  wasOpen.current = open
  useEffect(() => {
    if (!open) return
    const own = trail.current
    trails.push(own)
    return () => void trails.splice(trails.indexOf(own), 1)
  }, [open])
  return (event) => {
    event.preventDefault()
    // What was there may be gone, such as the row that was deleted: then the page has it.
    const left = trail.current.find((element) => element.isConnected) ?? document.querySelector('main')
    if (left instanceof HTMLElement) left.focus()
  }
}

/** A dialog that takes the place of another returns to where that one would have. */
function trailTo(focused: Element | null): Trail {
  if (focused === null || focused === document.body) return []
  const isInDialog = focused.closest('[role=dialog]') !== null
  return [openerOf(focused) ?? focused, ...(isInDialog ? (trails.at(-1) ?? []) : [])]
}

/** An item of a menu is gone by then; the button of the menu stays. */
function openerOf(focused: Element): Element | null {
  const trigger = focused.closest('[role=menu]')?.getAttribute('aria-labelledby')
  return trigger === null || trigger === undefined ? null : document.getElementById(trigger)
}
