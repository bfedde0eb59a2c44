import type { UseQueryResult } from '@tanstack/react-query'
import type { z } from 'zod'
import type { Usage as UsageSchema, UsageRow as UsageRowSchema } from '#contract/usage.ts'
import { figure } from '../../ui/figure.ts'
import { Problem } from '../../ui/problem.tsx'
import { type Column, Table } from '../../ui/table.tsx'

type Usage = z.infer<typeof UsageSchema>
type UsageRow = z.infer<typeof UsageRowSchema>
type Figures = Usage['totals']

const FIGURES: readonly { name: string; of: (figures: Figures) => number; wideOnly?: boolean }[] = [
  { name: 'Cells', of: ({ cells }) => cells, wideOnly: true },
  { name: 'Billed', of: ({ cells_billed }) => cells_billed, wideOnly: true },
  { name: 'Cached', of: ({ cells_cached }) => cells_cached, wideOnly: true },
  { name: 'Refunded', of: ({ refunded }) => refunded, wideOnly: true },
  { name: 'Saved', of: ({ saved_by_cache, saved_by_own_keys }) => saved_by_cache + saved_by_own_keys },
  { name: 'Credits', of: ({ credits }) => credits },
]

/** A table of spending by one dimension. The last row is the total. */
export function UsageTable({
  label,
  name,
  query,
  getName,
}: {
  label: string
  name: string
  query: UseQueryResult<Usage>
  getName: (row: UsageRow) => string
}) {
  if (query.error !== null) return <Problem error={query.error} onRetry={() => void query.refetch()} />
  if (query.data === undefined) return null
  const { rows, totals } = query.data
  const columns: readonly Column<UsageRow>[] = [
    { name, cell: (row) => <span className="break-words">{getName(row)}</span> },
    ...FIGURES.map(({ name: figureName, of, wideOnly = false }) => ({
      name: figureName,
      align: 'right' as const,
      wideOnly,
      cell: (row: UsageRow) => <span className="inline-block min-w-16 tabular-nums">{figure(of(row))}</span>,
    })),
  ]
  return (
    <section aria-label={label} className="flex flex-col gap-2">
      <h2 className="text-14 font-semibold">{label}</h2>
      <Table
        label={label}
        narrow="scroll"
        columns={columns}
        items={rows}
        getKey={(row) => `${row.workflow_id ?? ''} ${getName(row)}`}
        footer={
          <tr>
            <th scope="row" className="h-10 px-3 text-left font-medium">
              Total
            </th>
            {FIGURES.map(({ name: figureName, of, wideOnly }) => (
              <td
                key={figureName}
                className={`px-3 text-right font-medium tabular-nums ${wideOnly === true ? 'max-md:hidden' : ''}`}
              >
                {figure(of(totals))}
              </td>
            ))}
          </tr>
        }
      />
    </section>
  )
}
