import type { ComponentProps, MouseEvent } from 'react'
import { classNames } from './class-names.ts'
import type { Icon } from './icons.tsx'

const KINDS = {
  primary: 'border-accent bg-accent text-white hover:bg-accent-strong',
  plain: 'border-control/60 bg-bg text-text hover:bg-hover',
  ghost: 'border-transparent text-text hover:bg-hover',
  danger: 'border-danger bg-danger text-white hover:brightness-110',
} as const
const SIZES = { small: 'h-6 px-2 text-12', normal: 'h-7 px-2.5 text-13', large: 'h-9 px-4 text-14' } as const

export type ButtonProps = ComponentProps<'button'> & {
  kind?: keyof typeof KINDS
  size?: keyof typeof SIZES
  icon?: Icon
  /** Shows only the icon; the text becomes the accessible name. */
  iconOnly?: boolean
  /** Shows only the icon on a phone, where there is no room for text. */
  iconOnPhone?: boolean
  busy?: boolean
}

export function buttonClass(kind: keyof typeof KINDS = 'plain', size: keyof typeof SIZES = 'normal'): string {
  return classNames(
    'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap select-none',
    'transition-colors disabled:cursor-not-allowed disabled:opacity-60 aria-disabled:cursor-default aria-disabled:opacity-60',
    KINDS[kind],
    SIZES[size],
  )
}

const ignoreClick = (event: MouseEvent) => event.preventDefault()

export function Button({
  kind = 'plain',
  size = 'normal',
  icon: Icon,
  iconOnly = false,
  iconOnPhone = false,
  busy = false,
  className,
  children,
  disabled,
  onClick,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled}
      // A disabled button loses the focus, so a busy button stays enabled and only ignores clicks.
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      onClick={busy ? ignoreClick : onClick}
      {...((iconOnly || iconOnPhone) && typeof children === 'string' ? { title: children } : {})}
      className={classNames(
        buttonClass(kind, size),
        iconOnly && 'aspect-square px-0!',
        iconOnPhone && 'max-md:aspect-square max-md:px-0!',
        className,
      )}
    >
      {Icon !== undefined && <Icon aria-hidden className="size-3.5 shrink-0" />}
      {iconOnly ? (
        <span className="sr-only">{children}</span>
      ) : iconOnPhone ? (
        <span className="max-md:sr-only">{children}</span>
      ) : (
        children
      )}
    </button>
  )
}
