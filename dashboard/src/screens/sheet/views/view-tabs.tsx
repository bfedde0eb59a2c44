import { useMutation } from '@tanstack/react-query'
import { type KeyboardEvent, useState } from 'react'
import { fieldProblem } from '../../../api/client.ts'
import type { View } from '../../../api/views.ts'
import { Button } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { ChevronDown, Plus } from '../../../ui/icons.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../../ui/menu.tsx'
import { NameDialog } from '../../../ui/name-dialog.tsx'
import { TextField } from '../../../ui/text-field.tsx'
import { notifyProblem } from '../../../ui/toasts.tsx'
import { useSheet } from '../sheet-view.ts'

/** The views of the sheet as tabs, and what can be done with the open one. */
export function ViewTabs() {
  const { views, can } = useSheet()
  const { view, isChanged } = views
  const [isNaming, setNaming] = useState(false)
  const save = useMutation({ mutationFn: views.save, onError: (error) => notifyProblem(error) })
  if (view === undefined) return null
  return (
    <div className="flex items-center gap-1 overflow-x-auto border-b px-3 py-1">
      <Tabs />
      {can.configure && <ViewMenu view={view} />}
      {isChanged && (
        <>
          {can.configure && (
            <Button size="small" busy={save.isPending} onClick={() => save.mutate()}>
              Save view
            </Button>
          )}
          <Button size="small" kind="ghost" onClick={views.revert}>
            Revert
          </Button>
        </>
      )}
      {can.configure && (
        <Button size="small" kind="ghost" icon={Plus} onClick={() => setNaming(true)}>
          New view
        </Button>
      )}
      {isNaming && <NewView onClose={() => setNaming(false)} />}
    </div>
  )
}

function Tabs() {
  const { views: own } = useSheet()
  const { views, view, isChanged, open } = own
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    const at = views.findIndex(({ view_id }) => view_id === view?.view_id)
    const place = (at + step + views.length) % views.length
    const next = views[place]
    if (next === undefined) return
    open(next)
    event.currentTarget.querySelectorAll<HTMLElement>('[role=tab]')[place]?.focus()
  }
  return (
    <div role="tablist" aria-label="Views" className="flex gap-1" onKeyDown={onKeyDown}>
      {views.map((one) => {
        const isHere = one.view_id === view?.view_id
        return (
          <button
            key={one.view_id}
            type="button"
            role="tab"
            aria-selected={isHere}
            tabIndex={isHere ? 0 : -1}
            title={one.visibility === 'only_me' ? `${one.name}: only you see this view` : one.name}
            onClick={() => {
              if (!isHere) open(one)
            }}
            className={classNames(
              'max-w-[240px] shrink-0 truncate rounded-md px-2 py-0.5 text-12 max-md:py-1.5',
              isHere ? 'bg-selected font-medium' : 'text-muted hover:bg-hover',
            )}
          >
            {isHere && isChanged ? `${one.name} (not saved)` : one.name}
          </button>
        )
      })}
    </div>
  )
}

type Asked = 'name' | 'delete' | null

function ViewMenu({ view }: { view: View }) {
  const { views } = useSheet()
  const [asked, setAsked] = useState<Asked>(null)
  const change = (body: Parameters<typeof views.change>[1]) =>
    void views.change(view.view_id, body).catch(notifyProblem)
  const isShared = view.visibility === 'shared'
  return (
    <>
      <Menu
        trigger={
          <Button kind="ghost" size="small" icon={ChevronDown} iconOnly>
            View menu
          </Button>
        }
      >
        <MenuItem onSelect={() => setAsked('name')}>Rename view</MenuItem>
        {!view.is_default && isShared && (
          <MenuItem onSelect={() => change({ is_default: true })}>Make default</MenuItem>
        )}
        {!view.is_default && (
          <MenuItem onSelect={() => change({ visibility: isShared ? 'only_me' : 'shared' })}>
            {isShared ? 'Show only to me' : 'Share'}
          </MenuItem>
        )}
        {!view.is_default && (
          <>
            <MenuSeparator />
            <MenuItem danger onSelect={() => setAsked('delete')}>
              Delete view
            </MenuItem>
          </>
        )}
      </Menu>
      {asked === 'name' && (
        <NameDialog
          title="Rename view"
          start={view.name}
          save={(name) => views.change(view.view_id, { name })}
          onSaved={async () => {}}
          onClose={() => setAsked(null)}
        />
      )}
      {asked === 'delete' && (
        <ConfirmDialog
          title={`Delete ${view.name}`}
          description="The rows and columns of the sheet stay. Runs and schedules that use this view must choose another one."
          verb="Delete"
          run={() => views.remove(view)}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  )
}

function NewView({ onClose }: { onClose: () => void }) {
  const { views } = useSheet()
  const [name, setName] = useState('')
  const [visibility, setVisibility] = useState<View['visibility']>('shared')
  const create = useMutation({ mutationFn: () => views.create(name, visibility), onSuccess: onClose })
  const problem = fieldProblem(create.error, 'name')
  return (
    <Dialog
      open
      onClose={onClose}
      title="New view"
      description="It keeps the filters, the order and the columns as they are now."
      submit={{ label: 'Create', onSubmit: () => create.mutate(), busy: create.isPending }}
      error={problem === undefined ? create.error : null}
    >
      <TextField label="Name" value={name} onChange={setName} problem={problem} autoFocus />
      <fieldset className="flex flex-col gap-1">
        <legend className="mb-1 text-12 font-medium">Who sees it</legend>
        {(['shared', 'only_me'] as const).map((value) => (
          <label key={value} className="flex items-center gap-2">
            <input
              type="radio"
              name="visibility"
              checked={visibility === value}
              onChange={() => setVisibility(value)}
            />
            {value === 'shared' ? 'Shared' : 'Only me'}
          </label>
        ))}
      </fieldset>
    </Dialog>
  )
}
