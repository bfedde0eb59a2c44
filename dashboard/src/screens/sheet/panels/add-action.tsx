import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useId, useMemo, useState } from 'react'
import { catalogueQuery, suggestionsQuery } from '../../../api/catalogue.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { plural } from '../../../ui/figure.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { SearchBox } from '../../../ui/text-field.tsx'
import { useSheet } from '../sheet-view.ts'
import { listSections, noteRecent, type Offer, readRecent, type Section } from './action-gallery.ts'
import { GalleryCategories } from './gallery-categories.tsx'
import { GalleryOption } from './gallery-option.tsx'

/** The steps of keys in the list of actions. */
const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 5, PageUp: -5 }

/** The gallery of actions. Choosing an action opens its panel; saving there adds it. */
export default function AddAction() {
  const { sheet, address, state } = useSheet()
  const catalogue = useQuery(catalogueQuery)
  const suggestions = useQuery(suggestionsQuery(sheet))
  const [recent] = useState(readRecent)
  const [search, setSearch] = useState('')
  const [category, setCategory] = useState('')
  const [active, setActive] = useState(0)
  const listId = useId()
  const sections = useMemo(
    () =>
      listSections({ catalogue: catalogue.data, suggestions: suggestions.data, recent, search, category }),
    [catalogue.data, suggestions.data, recent, search, category],
  )
  const offers = sections.flatMap((section) => section.offers)
  const choose = (offer: Offer | undefined) => {
    if (offer === undefined) return
    noteRecent(offer.entry.action_id)
    address.openDraft(offer.entry.action_id, { after: address.opened.after, inputs: offer.inputs })
  }
  const close = () => {
    state.getState().carry(null)
    address.closePanel()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const next = findNext(event.key, active, offers.length)
    if (event.key === 'Enter') choose(offers[active])
    else if (next === null) return
    else mark(listId, next, setActive)
    event.preventDefault()
  }
  const show = (change: { search?: string; category?: string }) => {
    setSearch(change.search ?? '')
    setCategory(change.category ?? '')
    setActive(0)
    document.getElementById(listId)?.scrollTo({ top: 0 })
  }
  const isReady = catalogue.data !== undefined && !suggestions.isLoading
  return (
    <Dialog open wide="gallery" title="Add action" onClose={close}>
      <SearchBox
        label="Search actions"
        placeholder="Search actions, providers or tasks"
        autoFocus
        value={search}
        onChange={(text) => show({ search: text })}
        onKeyDown={onKeyDown}
        aria-controls={listId}
        {...(offers[active] === undefined ? {} : { 'aria-activedescendant': `${listId}-${active}` })}
        className="h-9! shrink-0"
      />
      {[catalogue, suggestions].map(
        ({ error, refetch }, n) =>
          error !== null && <Problem key={n} error={error} onRetry={() => void refetch()} />,
      )}
      {!isReady && catalogue.error === null && <Skeleton />}
      {isReady && (
        <div className="flex min-h-0 gap-3 max-md:flex-col">
          <GalleryCategories
            name={`${listId}-category`}
            chosen={category}
            onChoose={(id) => show({ category: id })}
          />
          <ActionList
            id={listId}
            sections={sections}
            search={search}
            active={active}
            onKeyDown={onKeyDown}
            onChoose={choose}
          />
        </div>
      )}
      <p role="status" className="sr-only">
        {search.trim() === '' ? '' : plural(offers.length, 'action')}
      </p>
    </Dialog>
  )
}

/** Marks an option and scrolls it into view. */
function mark(listId: string, place: number, setActive: (place: number) => void): void {
  setActive(place)
  document.getElementById(`${listId}-${place}`)?.scrollIntoView({ block: 'nearest' })
}

function findNext(key: string, active: number, count: number): number | null {
  if (count === 0) return null
  const step = STEPS[key]
  if (step === undefined) return null
  if (Math.abs(step) === 1) return (active + step + count) % count
  return Math.min(count - 1, Math.max(0, active + step))
}

type ListProps = {
  id: string
  sections: readonly Section[]
  search: string
  active: number
  onKeyDown: (event: KeyboardEvent) => void
  onChoose: (offer: Offer) => void
}

function ActionList({ id, sections, search, active, onKeyDown, onChoose }: ListProps) {
  let place = 0
  return (
    <div
      id={id}
      role="listbox"
      aria-label="Actions"
      tabIndex={0}
      onKeyDown={onKeyDown}
      aria-activedescendant={`${id}-${active}`}
      className="h-[52vh] grow overflow-y-auto rounded-md border"
    >
      {sections.map(({ title, offers }) => (
        <div key={title} role="group" aria-label={title}>
          <div
            aria-hidden
            className="sticky top-0 z-10 border-b bg-subtle px-3 py-1 text-11 font-medium text-muted"
          >
            {title}
          </div>
          {offers.map((offer) => {
            const own = place
            place += 1
            return (
              <GalleryOption
                key={offer.entry.action_id}
                id={`${id}-${own}`}
                offer={offer}
                search={search}
                isActive={own === active}
                onChoose={() => onChoose(offer)}
              />
            )
          })}
        </div>
      ))}
      {sections.length === 0 && (
        <p className="p-6 text-center text-muted">
          No action matches “{search.trim()}”. Try another word, or call any API with HTTP API call.
        </p>
      )}
    </div>
  )
}
