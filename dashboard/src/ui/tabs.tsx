import { Tabs as Radix } from 'radix-ui'
import type { ReactNode } from 'react'

type Tab = { name: string; content: ReactNode }

export function Tabs({
  label,
  tabs,
  value,
  onChange,
}: {
  label: string
  tabs: readonly Tab[]
  value?: string
  onChange?: (name: string) => void
}) {
  return (
    <Radix.Root
      {...(value === undefined ? { defaultValue: tabs[0]?.name ?? '' } : { value })}
      {...(onChange === undefined ? {} : { onValueChange: onChange })}
      className="flex min-h-0 flex-col gap-3"
    >
      <Radix.List aria-label={label} className="flex gap-1 border-b">
        {tabs.map(({ name }) => (
          <Radix.Trigger
            key={name}
            value={name}
            className="-mb-px border-b-2 border-transparent px-2 py-1 text-muted data-[state=active]:border-accent-text data-[state=active]:text-text"
          >
            {name}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map(({ name, content }) => (
        <Radix.Content key={name} value={name} className="min-h-0">
          {content}
        </Radix.Content>
      ))}
    </Radix.Root>
  )
}
