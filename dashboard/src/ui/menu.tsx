import { DropdownMenu as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import type { Icon } from './icons.tsx'

/** A menu with its button, which is given as `trigger`. */
export function Menu({
  trigger,
  label,
  onOpen,
  children,
}: {
  trigger: ReactNode
  label?: string
  onOpen?: (open: boolean) => void
  children: ReactNode
}) {
  return (
    <Radix.Root modal={false} {...(onOpen === undefined ? {} : { onOpenChange: onOpen })}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          {...(label === undefined ? {} : { 'aria-label': label })}
          align="start"
          sideOffset={4}
          collisionPadding={8}
          className="z-50 max-h-[min(420px,var(--radix-dropdown-menu-content-available-height))] min-w-[180px] animate-pop overflow-y-auto rounded-md border bg-raised p-1 shadow-raised"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

const ITEM =
  'flex cursor-pointer items-center gap-2 rounded px-2 py-1 outline-none select-none data-highlighted:bg-hover data-disabled:cursor-not-allowed data-disabled:text-muted data-disabled:opacity-70'

export function MenuItem({
  children,
  icon: Icon,
  onSelect,
  danger,
  disabled,
  note,
}: {
  children: ReactNode
  icon?: Icon
  onSelect: () => void
  danger?: boolean
  disabled?: boolean
  note?: string
}) {
  return (
    <Radix.Item
      {...(disabled === undefined ? {} : { disabled })}
      onSelect={onSelect}
      className={classNames(ITEM, danger === true && 'text-danger-text')}
    >
      {Icon !== undefined && <Icon aria-hidden className="size-3.5 shrink-0" />}
      <span className="min-w-0 flex-1 truncate">{children}</span>
      {note !== undefined && (
        <span aria-hidden className="text-12 text-muted">
          {note}
        </span>
      )}
    </Radix.Item>
  )
}

export function MenuCheckbox({
  children,
  checked,
  onChange,
}: {
  children: ReactNode
  checked: boolean
  onChange: (checked: boolean) => void
}) {
  return (
    <Radix.CheckboxItem
      checked={checked}
      onCheckedChange={onChange}
      // The menu stays open, because often several checkboxes are changed in a row.
      onSelect={(event) => event.preventDefault()}
      className={ITEM}
    >
      <span
        aria-hidden
        className={classNames(
          'flex size-3.5 items-center justify-center rounded-sm border border-control text-11',
          checked && 'border-accent bg-accent text-white',
        )}
      >
        {checked ? '✓' : ''}
      </span>
      <span className="min-w-0 flex-1 truncate">{children}</span>
    </Radix.CheckboxItem>
  )
}

export function MenuSeparator() {
  return <Radix.Separator className="my-1 h-px bg-hairline" />
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return <Radix.Label className="px-2 py-1 text-11 text-muted">{children}</Radix.Label>
}
