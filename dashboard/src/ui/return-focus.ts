import { useEffect, useRef } from 'react'

type Trail = readonly Element[]

/** The trail of each open dialog: the element that had the focus before it, then the one before its parent dialog. */
const trails: Trail[] = []

/** Returns a handler for `onCloseAutoFocus` that gives the focus back to where it was when the dialog opened. */
export function useReturnFocus(open: boolean): (event: Event) => void {
  const trail = useRef<Trail>([])
  const wasOpen = useRef(false)
  // On the first render of an open dialog the focus has not moved yet.
  if (open && !wasOpen.current) trail.current = buildTrail(document.activeElement)
  wasOpen.current = open
  useEffect(() => {
    if (!open) return
    const own = trail.current
    trails.push(own)
    return () => void trails.splice(trails.indexOf(own), 1)
  }, [open])
  return (event) => {
    event.preventDefault()
    // The element may be gone, such as the row that was deleted. The page then gets the focus.
    const target = trail.current.find((element) => element.isConnected) ?? document.querySelector('main')
    if (target instanceof HTMLElement) target.focus()
  }
}

/** Returns the trail for a dialog that opens now. If it replaces another dialog, it continues that dialog's trail. */
function buildTrail(focused: Element | null): Trail {
  if (focused === null || focused === document.body) return []
  const isInDialog = focused.closest('[role=dialog]') !== null
  return [findMenuButton(focused) ?? focused, ...(isInDialog ? (trails.at(-1) ?? []) : [])]
}

/** Returns the button of the menu that contains the element. The menu item itself is gone when the focus returns. */
function findMenuButton(focused: Element): Element | null {
  const trigger = focused.closest('[role=menu]')?.getAttribute('aria-labelledby')
  return trigger === null || trigger === undefined ? null : document.getElementById(trigger)
}
