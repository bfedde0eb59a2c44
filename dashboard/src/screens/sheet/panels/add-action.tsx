import { useMutation, useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useId, useState } from 'react'
import { sheetCall } from '../../../api/calls.ts'
import { type CatalogueEntry, catalogueQuery } from '../../../api/catalogue.ts'
import { fetchData } from '../../../api/client.ts'
import { classNames } from '../../../ui/class-names.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { plural } from '../../../ui/figure.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { SearchBox } from '../../../ui/text-field.tsx'
import { changeDefinition } from '../definition-steps.ts'
import { useSheet } from '../sheet-view.ts'

/** The dialog with the catalogue of actions. Choosing an action adds it at the end of the chain and opens its panel. */
export default function AddAction() {
  const view = useSheet()
  const { address, refreshDefinition } = view
  const catalogue = useQuery(catalogueQuery)
  const [words, setWords] = useState('')
  const [active, setActive] = useState(0)
  const listId = useId()
  const add = useMutation({
    mutationFn: (action_id: string) =>
      changeDefinition(view, 'add action', () =>
        fetchData(sheetCall(view.sheet, 'POST /actions/add', { body: { action_id } })),
      ),
    onSuccess: async ({ action_instance_id }) => {
      await refreshDefinition()
      address.openAction(action_instance_id)
    },
  })
  const found = rank(catalogue.data ?? [], words)
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0 && found.length > 0) {
      event.preventDefault()
      const next = (active + step + found.length) % found.length
      setActive(next)
      document.getElementById(`${listId}-${next}`)?.scrollIntoView({ block: 'nearest' })
    } else if (event.key === 'Enter') {
      event.preventDefault()
      const chosen = found[active]
      if (chosen !== undefined && !add.isPending) add.mutate(chosen.action_id)
    }
  }
  return (
    <Dialog open wide title="Add action" onClose={address.closePanel} error={add.error}>
      <SearchBox
        label="Search actions"
        autoFocus
        value={words}
        onChange={(text) => {
          setWords(text)
          setActive(0)
        }}
        onKeyDown={onKeyDown}
        aria-controls={listId}
        {...(found[active] === undefined ? {} : { 'aria-activedescendant': `${listId}-${active}` })}
        className="h-9! shrink-0"
      />
      {catalogue.error !== null && (
        <Problem error={catalogue.error} onRetry={() => void catalogue.refetch()} />
      )}
      {catalogue.data === undefined && catalogue.error === null && <Skeleton />}
      {catalogue.data !== undefined && (
        <div
          id={listId}
          role="listbox"
          aria-label="Actions"
          tabIndex={0}
          onKeyDown={onKeyDown}
          className="max-h-[46vh] overflow-y-auto rounded-md border"
        >
          {found.map((entry, place) => (
            <Option
              key={entry.action_id}
              id={`${listId}-${place}`}
              entry={entry}
              isActive={place === active}
              onChoose={() => !add.isPending && add.mutate(entry.action_id)}
            />
          ))}
          {found.length === 0 && <p className="p-4 text-center text-muted">No results</p>}
        </div>
      )}
    </Dialog>
  )
}

function Option({
  id,
  entry,
  isActive,
  onChoose,
}: {
  id: string
  entry: CatalogueEntry
  isActive: boolean
  onChoose: () => void
}) {
  return (
    <div
      id={id}
      role="option"
      aria-selected={isActive}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
      className={classNames(
        'flex cursor-pointer flex-col border-b px-3 py-2 last:border-b-0 hover:bg-hover',
        isActive && 'bg-hover',
      )}
    >
      <span className="flex items-baseline gap-2">
        <span className="font-medium">{entry.name}</span>
        <span className="ml-auto shrink-0 text-12 text-muted">{formatPrice(entry)}</span>
        {entry.needs_key && (
          <span className="shrink-0 rounded bg-out-of-credits-bg px-1 text-11 text-out-of-credits">
            Needs key
          </span>
        )}
      </span>
      <span className="text-12 text-muted">{entry.description}</span>
    </div>
  )
}

function formatPrice({ price: { min, max } }: CatalogueEntry): string {
  return min === max ? plural(min, 'credit') : `${min} to ${plural(max, 'credit')}`
}

/** Sorts the matching actions: names that start with the words first, then names that contain them, then descriptions. */
function rank(entries: readonly CatalogueEntry[], words: string): CatalogueEntry[] {
  const wanted = words.trim().toLowerCase()
  const score = ({ name, description, action_id, category }: CatalogueEntry) => {
    if (name.toLowerCase().startsWith(wanted)) return 3
    if (name.toLowerCase().includes(wanted) || action_id.includes(wanted)) return 2
    return `${description} ${category}`.toLowerCase().includes(wanted) ? 1 : 0
  }
  return entries
    .filter((entry) => score(entry) > 0)
    .sort((one, other) => score(other) - score(one) || one.name.localeCompare(other.name))
}
