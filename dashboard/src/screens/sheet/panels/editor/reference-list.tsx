import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react'
import { classNames } from '../../../../ui/class-names.ts'
import { POPOVER, usePlacedPopover } from '../../../../ui/combobox.tsx'
import { SearchBox } from '../../../../ui/text-field.tsx'
import { listReferences, type Reference, searchReferences } from '../../references.ts'
import { useSight } from './sight.ts'

/** One line of the list: the column with its value in the sample row. */
export function ReferenceOption({
  id,
  reference: { token, label, type, sample },
  isActive,
  onChoose,
}: {
  id: string
  reference: Reference
  isActive: boolean
  onChoose: () => void
}) {
  const element = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isActive) element.current?.scrollIntoView({ block: 'nearest' })
  }, [isActive])
  return (
    <li
      ref={element}
      id={id}
      role="option"
      aria-label={label}
      aria-description={`${type}, ${sample === '' ? 'empty' : sample}`}
      aria-selected={isActive}
      {...(token === '' ? {} : { 'data-token': token })}
      // The editor keeps the focus.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
      className={classNames(
        'flex cursor-pointer items-baseline gap-3 rounded px-2 py-1 hover:bg-hover',
        isActive && 'bg-hover',
      )}
    >
      <span className="max-w-[60%] shrink-0 truncate" title={label}>
        {label}
      </span>
      <span className="min-w-0 flex-1 truncate text-right text-12 text-muted">{sample}</span>
    </li>
  )
}

/** Returns the step that an arrow key makes in a list, or 0. */
export const arrowStep = (key: string): number => (key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0)

/** The list of columns with a search field, opened by a button. */
export function ReferencePicker({
  anchor,
  onChoose,
  onClose,
}: {
  anchor: HTMLElement | null
  onChoose: (reference: Reference) => void
  onClose: () => void
}) {
  const sight = useSight()
  const [words, setWords] = useState('')
  const [active, setActive] = useState(0)
  const popover = useRef<HTMLDivElement>(null)
  const listId = useId()
  usePlacedPopover(popover, anchor)
  useEffect(() => popover.current?.querySelector('input')?.focus(), [])
  const all = useMemo(() => listReferences(sight), [sight])
  const found = searchReferences(all, words)
  const onKeyDown = (event: KeyboardEvent) => {
    const step = arrowStep(event.key)
    const chosen = found[active]
    if (step !== 0) setActive((active + step + found.length) % Math.max(1, found.length))
    else if (event.key === 'Enter' || event.key === 'Tab') {
      if (chosen !== undefined) onChoose(chosen)
    } else if (event.key === 'Escape') {
      event.stopPropagation()
      onClose()
    } else return
    event.preventDefault()
  }
  return (
    <div
      ref={popover}
      popover="manual"
      className={classNames(POPOVER, 'flex flex-col gap-1')}
      onBlur={({ relatedTarget, currentTarget }) => {
        if (!currentTarget.contains(relatedTarget)) onClose()
      }}
    >
      <SearchBox
        label="Search columns and values"
        value={words}
        onChange={(text) => {
          setWords(text)
          setActive(0)
        }}
        onKeyDown={onKeyDown}
        aria-controls={listId}
        {...(found[active] === undefined ? {} : { 'aria-activedescendant': `${listId}-${active}` })}
        className="shrink-0"
      />
      <ul id={listId} role="listbox" aria-label="References" className="min-h-0 flex-1 overflow-y-auto">
        {found.map((reference, place) => (
          <ReferenceOption
            key={`${reference.token} ${reference.label}`}
            id={`${listId}-${place}`}
            reference={reference}
            isActive={place === active}
            onChoose={() => onChoose(reference)}
          />
        ))}
      </ul>
      {found.length === 0 && (
        <p className="px-2 pb-1 text-muted">
          {all.length === 0 ? 'There are no columns before this action' : 'No results'}
        </p>
      )}
    </div>
  )
}
