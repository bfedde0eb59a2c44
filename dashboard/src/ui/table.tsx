import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import { ArrowDown, ArrowUp } from './icons.tsx'

export type Column<Item> = {
  name: string
  /** The head is for screen readers only. */
  hideName?: boolean
  cell: (item: Item) => ReactNode
  /** What it is sorted by; without it the column cannot be. */
  sortBy?: (item: Item) => string | number
  align?: 'right'
  /** Left out where there is no room for it. */
  wideOnly?: boolean
}

export type Order = { column: string; descending: boolean }

type Props<Item> = {
  label: string
  columns: readonly Column<Item>[]
  items: readonly Item[]
  keyOf: (item: Item) => string
  order?: Order
  onOrder?: (order: Order) => void
  /** Rows after all others, such as a total. */
  footer?: ReactNode
}

export function Table<Item>({ label, columns, items, keyOf, order, onOrder, footer }: Props<Item>) {
  const sorted = sortItems(items, columns, order)
  return (
    <div
      className="overflow-x-auto rounded-lg border"
      tabIndex={0}
      role="group"
      aria-label={`${label}, scrollable`}
    >
      <table aria-label={label} className="w-full border-collapse text-left">
        <thead className="bg-subtle text-12 text-muted">
          <tr>
            {columns.map((column) => (
              <Head key={column.name} column={column} order={order} onOrder={onOrder} />
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((item) => (
            <tr key={keyOf(item)} className="border-t hover:bg-subtle">
              {columns.map((column) => (
                <td
                  key={column.name}
                  className={classNames('h-10 px-3 max-md:px-2 py-1.5', cellClass(column))}
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

function cellClass<Item>({ align, wideOnly }: Column<Item>): string {
  return classNames(align === 'right' && 'text-right', wideOnly === true && 'max-md:hidden')
}

function Head<Item>({
  column,
  order,
  onOrder,
}: {
  column: Column<Item>
  order: Order | undefined
  onOrder: ((order: Order) => void) | undefined
}) {
  const isOrdered = order?.column === column.name
  const Arrow = order?.descending === true ? ArrowDown : ArrowUp
  const name = column.hideName === true ? <span className="sr-only">{column.name}</span> : column.name
  return (
    <th
      scope="col"
      {...(isOrdered
        ? { 'aria-sort': order.descending ? ('descending' as const) : ('ascending' as const) }
        : {})}
      className={classNames('h-8 px-3 max-md:px-2 font-medium whitespace-nowrap', cellClass(column))}
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
