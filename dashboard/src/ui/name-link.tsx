import { createLink } from '@tanstack/react-router'
import type { ComponentProps } from 'react'

const NAME = 'long-text text-left font-medium text-text hover:text-accent-text hover:underline'

/** The name of a list entry as a link that opens it. */
export const NameLink = createLink((props: ComponentProps<'a'>) => <a {...props} className={NAME} />)

/** The name of a list entry as a button, for an entry that opens on the same page. */
export function NameButton(props: ComponentProps<'button'>) {
  return <button type="button" {...props} className={NAME} />
}
