import { useQuery } from '@tanstack/react-query'
import { type NavigateOptions, useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { Dialog } from 'radix-ui'
import { useCan } from '../api/session.ts'
import { workflowsQuery } from '../api/workflows.ts'
import { applyTheme, THEMES } from '../theme/theme.ts'
import { Button } from '../ui/button.tsx'
import { useReturnFocus } from '../ui/return-focus.ts'
import { NAVIGATION } from './navigation.ts'
import { SETTINGS } from './settings-pages.ts'

/** The command palette (Ctrl+K): pages, workflows, settings and themes. */
export default function CommandPalette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const returnFocus = useReturnFocus(true)
  const can = useCan()
  const workflows = useQuery({ ...workflowsQuery, enabled: can('workflows:read') })
  const go = (to: NavigateOptions) => {
    onClose()
    void navigate(to)
  }
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-[rgb(10_12_16/45%)]" />
        <Dialog.Content
          onCloseAutoFocus={returnFocus}
          aria-describedby={undefined}
          className="fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-32px)] max-w-[560px] -translate-x-1/2 animate-pop overflow-hidden rounded-lg border bg-raised shadow-raised"
        >
          <Dialog.Title className="sr-only">Command palette</Dialog.Title>
          <Command label="Commands">
            <div className="flex items-center gap-2 border-b pr-2">
              <Command.Input
                autoFocus
                placeholder="Search pages, workflows and themes…"
                className="h-11 w-full bg-transparent px-4 text-14 outline-none"
              />
              <Button size="small" onClick={onClose}>
                Cancel
              </Button>
            </div>
            <Command.List className="max-h-[50vh] overflow-y-auto p-2">
              <Command.Empty className="p-4 text-center text-muted">No results</Command.Empty>
              <Group heading="Go to">
                {NAVIGATION.filter(({ scope }) => scope === undefined || can(scope)).map(({ name, to }) => (
                  <Item key={to} onSelect={() => go({ to })}>
                    {name}
                  </Item>
                ))}
              </Group>
              <Group heading="Workflows">
                {(workflows.data ?? []).slice(0, 200).map(({ workflow_id, name }) => (
                  <Item
                    key={workflow_id}
                    value={`${name} ${workflow_id}`}
                    onSelect={() => go({ to: '/workflows/$workflowId', params: { workflowId: workflow_id } })}
                  >
                    {name}
                  </Item>
                ))}
              </Group>
              <Group heading="Settings">
                {SETTINGS.filter(({ scope }) => scope === undefined || can(scope)).map(({ name, to }) => (
                  <Item key={to} onSelect={() => go({ to })}>
                    {name}
                  </Item>
                ))}
              </Group>
              <Group heading="Theme">
                {THEMES.map((theme) => (
                  <Item
                    key={theme}
                    value={`Theme ${theme}`}
                    onSelect={() => {
                      applyTheme(theme)
                      onClose()
                    }}
                  >
                    {`Theme: ${theme}`}
                  </Item>
                ))}
              </Group>
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function Group({ heading, children }: { heading: string; children: React.ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-3 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-11 [&_[cmdk-group-heading]]:text-muted"
    >
      {children}
    </Command.Group>
  )
}

function Item({ children, onSelect, value }: { children: string; onSelect: () => void; value?: string }) {
  return (
    <Command.Item
      value={value ?? children}
      onSelect={onSelect}
      className="cursor-pointer truncate rounded px-2 py-1.5 data-[selected=true]:bg-hover"
    >
      {children}
    </Command.Item>
  )
}
