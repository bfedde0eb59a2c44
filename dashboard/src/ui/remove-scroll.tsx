import { Slot } from 'radix-ui'
import { type ComponentProps, type ElementType, useEffect } from 'react'

type Props = ComponentProps<'div'> & {
  as?: ElementType
  allowPinchZoom?: boolean
  shards?: unknown
  enabled?: boolean
}

let open = 0

/** Replaces the package of this name. It stops the page from scrolling under a dialog by a class instead of a style element. */
export function RemoveScroll({
  as: As = Slot.Root,
  allowPinchZoom: _pinch,
  shards: _shards,
  enabled = true,
  ...rest
}: Props) {
  useEffect(() => {
    if (!enabled) return
    open += 1
    document.documentElement.classList.add('scroll-locked')
    return () => {
      open -= 1
      if (open === 0) document.documentElement.classList.remove('scroll-locked')
    }
  }, [enabled])
  return <As {...rest} />
}
