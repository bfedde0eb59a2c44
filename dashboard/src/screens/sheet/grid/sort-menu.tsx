import { useSyncExternalStore } from 'react'
import { ArrowDown, ArrowUp, RotateCcw, X } from '../../../ui/icons.tsx'
import { MenuItem } from '../../../ui/menu.tsx'
import type { PlacedColumn } from '../columns.ts'
import { useSheet } from '../sheet-view.ts'
import { findSorted, sortBy, withoutColumn } from '../sort.ts'

/** The items that sort by a column. */
export function SortItems({ column }: { column: PlacedColumn }) {
  const { address, rows } = useSheet()
  const { sort } = address
  const sorted = findSorted(sort, column)
  const hasOthers = withoutColumn(sort, column).length > 0
  return (
    <>
      <MenuItem icon={ArrowUp} onSelect={() => address.sortRows(sortBy(sort, column, { direction: 'asc' }))}>
        Sort ascending
      </MenuItem>
      <MenuItem
        icon={ArrowDown}
        onSelect={() => address.sortRows(sortBy(sort, column, { direction: 'desc' }))}
      >
        Sort descending
      </MenuItem>
      {hasOthers && (
        <>
          <MenuItem
            icon={ArrowUp}
            onSelect={() => address.sortRows(sortBy(sort, column, { direction: 'asc', isLast: true }))}
          >
            Then sort ascending
          </MenuItem>
          <MenuItem
            icon={ArrowDown}
            onSelect={() => address.sortRows(sortBy(sort, column, { direction: 'desc', isLast: true }))}
          >
            Then sort descending
          </MenuItem>
        </>
      )}
      {sorted !== null && (
        <>
          <MenuItem icon={RotateCcw} onSelect={() => rows.sortAgain()}>
            Sort again
          </MenuItem>
          <MenuItem icon={X} onSelect={() => address.sortRows(withoutColumn(sort, column))}>
            Clear sort
          </MenuItem>
        </>
      )}
    </>
  )
}

/** The sort of a column in its head. When rows were added since, a button sorts again. */
export function SortMark({ column }: { column: PlacedColumn }) {
  const { address, rows } = useSheet()
  const unsorted = useSyncExternalStore(
    (listener) => rows.subscribeCount(listener),
    () => rows.unsorted,
  )
  const sorted = findSorted(address.sort, column)
  if (sorted === null) return null
  const Arrow = sorted.direction === 'asc' ? ArrowUp : ArrowDown
  return (
    <>
      <span aria-hidden className="flex shrink-0 items-center text-11 text-accent-text">
        <Arrow className="size-3" />
        {address.sort.length > 1 && sorted.place + 1}
      </span>
      {unsorted > 0 && sorted.place === 0 && (
        <button
          type="button"
          tabIndex={-1}
          aria-label="Sort again"
          title={`Sort again: ${unsorted.toLocaleString('en')} added at the end`}
          onClick={() => rows.sortAgain()}
          className="rounded p-0.5 text-accent-text hover:bg-hover"
        >
          <RotateCcw aria-hidden className="size-3.5" />
        </button>
      )}
    </>
  )
}
