import { type MouseEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { classNames } from './class-names.ts'
import { ArrowDown, ArrowUp } from './icons.tsx'

export type Column<Item> = {
  name: string
  /** Shows the column name to screen readers only. */
  hideName?: boolean
  cell: (item: Item) => ReactNode
  /** Returns the sort key of an item. If absent, the column is not sortable. */
  sortBy?: (item: Item) => string | number
  align?: 'right'
  /** Hidden on a phone in a table that scrolls sideways; cards still show it. */
  wideOnly?: boolean
}

export type Order = { column: string; descending: boolean }

type Props<Item> = {
  label: string
  columns: readonly Column<Item>[]
  items: readonly Item[]
  getKey: (item: Item) => string
  order?: Order
  onOrder?: (order: Order) => void
  /** Opens an item: a click anywhere on its row does it, but on buttons and links. A cell has a button that does the same by keyboard. */
  onOpen?: (item: Item) => void
  /** The row that is open. */
  openKey?: string | undefined
  /** Rows at the end of the table, such as a total. */
  footer?: ReactNode
  /** The layout on a phone: each row as a card, or a table that scrolls sideways, for figures to compare. */
  narrow?: 'cards' | 'scroll'
}

export function Table<Item>({
  label,
  columns,
  items,
  getKey,
  order,
  onOrder,
  onOpen,
  openKey,
  footer,
  narrow = 'cards',
}: Props<Item>) {
  const sorted = sortItems(items, columns, order)
  const frame = useRef<HTMLDivElement>(null)
  const isScrollable = useIsScrollable(frame)
  const isCards = narrow === 'cards'
  return (
    <div
      ref={frame}
      className="scroll-hint overflow-x-auto rounded-lg border"
      // The frame is focusable only if it scrolls, so that the keyboard can scroll it.
      {...(isScrollable ? { tabIndex: 0, role: 'group', 'aria-label': `${label}, scrollable` } : {})}
    >
      <table
        role="table"
        aria-label={label}
        className={classNames('w-full border-collapse text-left', isCards && 'max-md:block')}
      >
        <thead
          role="rowgroup"
          className={classNames(
            'bg-subtle text-12 text-muted',
            isCards && (onOrder === undefined ? 'max-md:sr-only' : 'max-md:block'),
          )}
        >
          <tr
            role="row"
            className={classNames(isCards && 'max-md:flex max-md:flex-wrap max-md:items-center')}
          >
            {columns.map((column) => (
              <Head key={column.name} column={column} order={order} onOrder={onOrder} isCards={isCards} />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" className={classNames(isCards && 'max-md:block')}>
          {sorted.map((item) => (
            <tr
              key={getKey(item)}
              role="row"
              {...(onOpen && { onClick: (event) => openRow(event, () => onOpen(item)) })}
              className={classNames(
                'border-t hover:bg-hover/50',
                onOpen !== undefined && 'cursor-pointer',
                openKey === getKey(item) && 'bg-selected hover:bg-selected',
                isCards && onOrder === undefined && 'max-md:first:border-t-0',
                isCards && 'max-md:grid max-md:grid-cols-2 max-md:gap-x-4 max-md:gap-y-2 max-md:p-3',
              )}
            >
              {columns.map((column, place) => (
                <td
                  key={column.name}
                  role="cell"
                  data-label={column.name}
                  className={isCards ? cardClass(column, place === 0) : cellClass(column)}
                >
                  {column.cell(item)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {footer !== undefined && <tfoot className="border-t font-medium">{footer}</tfoot>}
      </table>
    </div>
  )
}

/** Opens a row by a click, unless that was on something with an effect of its own or selected text. */
function openRow({ target }: MouseEvent<HTMLElement>, open: () => void): void {
  const isControl = target instanceof Element && target.closest('a, button, input, label, summary') !== null
  if (!isControl && getSelection()?.isCollapsed !== false) open()
}

function cellClass<Item>({ align, wideOnly }: Column<Item>): string {
  return classNames(
    'h-10 px-3 py-1.5 max-md:px-2',
    align === 'right' && 'text-right',
    wideOnly === true && 'max-md:hidden',
  )
}

/** Returns the classes of a cell in card layout. Its column name stands above it; the first cell is the title of the card. */
function cardClass<Item>({ align, hideName }: Column<Item>, isFirst: boolean): string {
  return classNames(
    'md:h-10 md:px-3 md:py-1.5 max-md:block max-md:min-w-0 max-md:empty:hidden',
    align === 'right' && 'md:text-right',
    isFirst || hideName === true
      ? 'max-md:col-span-2'
      : 'max-md:before:block max-md:before:text-11 max-md:before:text-muted max-md:before:content-[attr(data-label)]',
  )
}

function Head<Item>({
  column,
  order,
  onOrder,
  isCards,
}: {
  column: Column<Item>
  order: Order | undefined
  onOrder: ((order: Order) => void) | undefined
  isCards: boolean
}) {
  const isOrdered = order?.column === column.name
  const Arrow = order?.descending === true ? ArrowDown : ArrowUp
  const name = column.hideName === true ? <span className="sr-only">{column.name}</span> : column.name
  return (
    <th
      scope="col"
      role="columnheader"
      {...(isOrdered
        ? { 'aria-sort': order.descending ? ('descending' as const) : ('ascending' as const) }
        : {})}
      className={classNames(
        'h-8 px-3 font-medium whitespace-nowrap max-md:px-2',
        column.align === 'right' && 'md:text-right',
        column.align === 'right' && !isCards && 'text-right',
        column.wideOnly === true && !isCards && 'max-md:hidden',
      )}
    >
      {column.sortBy === undefined || onOrder === undefined ? (
        name
      ) : (
        <button
          type="button"
          className="inline-flex items-center gap-1 rounded hover:text-text"
          onClick={() => onOrder({ column: column.name, descending: isOrdered ? !order.descending : false })}
        >
          {name}
          {isOrdered && <Arrow aria-hidden className="size-3" />}
        </button>
      )}
    </th>
  )
}

/** Returns true while the content is wider than its frame. */
function useIsScrollable(frame: React.RefObject<HTMLElement | null>): boolean {
  const [isScrollable, setScrollable] = useState(false)
  useEffect(() => {
    const element = frame.current
    if (element === null) return
    const measure = new ResizeObserver(() => setScrollable(element.scrollWidth > element.clientWidth))
    measure.observe(element)
    for (const child of element.children) measure.observe(child)
    return () => measure.disconnect()
  }, [frame])
  return isScrollable
}

function sortItems<Item>(items: readonly Item[], columns: readonly Column<Item>[], order: Order | undefined) {
  const sortBy = columns.find((column) => column.name === order?.column)?.sortBy
  if (sortBy === undefined) return items
  const sign = order?.descending === true ? -1 : 1
  return items.toSorted((one, other) => {
    const [a, b] = [sortBy(one), sortBy(other)]
    return (
      sign * (typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b)))
    )
  })
}
