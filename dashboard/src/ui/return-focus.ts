import { useRef } from 'react'

/** For `onCloseAutoFocus` of a dialog without a trigger of its own: the focus goes back to where it was when it opened. */
export function useReturnFocus(open: boolean): (event: Event) => void {
  const opener = useRef<Element | null>(null)
  const wasOpen = useRef(false)
  // While it renders open for the first time the focus has not moved yet.
  if (open && !wasOpen.current) opener.current = openerOf(document.activeElement)
  wasOpen.current = open
  return (event) => {
    event.preventDefault()
    if (opener.current instanceof HTMLElement && opener.current.isConnected) opener.current.focus()
  }
}

/** An item of a menu is gone by then; the button of the menu stays. */
function openerOf(focused: Element | null): Element | null {
  const trigger = focused?.closest('[role=menu]')?.getAttribute('aria-labelledby')
  return trigger === null || trigger === undefined ? focused : document.getElementById(trigger)
}
