import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { ColumnStatistics, RowStatistics } from '#contract/row-statistics.ts'
import { sheetCall } from '../../../api/calls.ts'
import { fetchData } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import { isFiltered, selectionBody } from '../../../api/sheet.ts'
import { classNames } from '../../../ui/class-names.ts'
import { Combobox } from '../../../ui/combobox.tsx'
import { figure, plural } from '../../../ui/figure.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import type { ActionColumn, Column } from '../columns.ts'
import { useSheet } from '../sheet-view.ts'
import { labelOf } from './cell-values.tsx'
import { Group, Panel } from './panel.tsx'
import {
  dateBars,
  hasFilters,
  hasStatus,
  numberBars,
  type StatisticsBar,
  statusBars,
  toggleFilters,
  toggleStatus,
  valueBars,
} from './statistics-bars.ts'

/** The interval at which statistics are computed again while they are shown. Those of large sheets take a second. */
const REFRESH_MS = 15_000

/** The panel with the statistics of a column over the rows that match. A bar filters by its value. */
export default function StatisticsPanel({ columnKey }: { columnKey: string }) {
  const { columns, address } = useSheet()
  const column = columns.find(({ key }) => key === columnKey)
  const name = `Statistics of ${column?.name ?? columnKey}`
  return (
    <Panel name={name} title={<h2 className="truncate text-14 font-semibold">{name}</h2>}>
      {column === undefined ? (
        <p className="text-muted">This column is not on the sheet.</p>
      ) : (
        <>
          {isFiltered(address.selection) && <p className="text-muted">Of the rows that match the filters.</p>}
          <Statistics column={column} />
        </>
      )}
    </Panel>
  )
}

function Statistics({ column }: { column: Column }) {
  const { sheet, address, layout } = useSheet()
  const [chosen, setChosen] = useState<string | undefined>(
    layout.shown[column.key] ?? (column.kind === 'action' ? column.outputs[0] : undefined),
  )
  const variable = findVariable(column, chosen)
  const asked = [
    ...(variable === null ? [] : [{ variable }]),
    ...(column.kind === 'action' ? [{ action_instance_id: column.key }] : []),
  ]
  const statistics = useQuery({
    queryKey: keys.sheet(sheet.sheetId).statistics(JSON.stringify(asked), address.selection),
    queryFn: ({ signal }) =>
      fetchData(
        sheetCall(sheet, 'POST /rows/statistics', {
          body: { columns: asked, ...selectionBody(address.selection) },
        }),
        { signal },
      ),
    // The bars of the former selection stay until the new ones are loaded.
    placeholderData: (former) => former,
    refetchInterval: REFRESH_MS,
  })
  const { data } = statistics
  return (
    <>
      {column.kind === 'action' && column.outputs.length > 1 && (
        <Combobox
          label="Output"
          value={chosen ?? ''}
          choices={column.outputs.map((output) => ({ value: output, label: labelOf(output) }))}
          onChange={setChosen}
        />
      )}
      {statistics.error !== null && (
        <Problem error={statistics.error} onRetry={() => void statistics.refetch()} />
      )}
      {data === undefined && statistics.error === null && <Skeleton />}
      {data !== undefined && <Figures statistics={data} column={column} variable={variable} />}
    </>
  )
}

/** Returns the token of an input or of an output of an action, or null if the action has none. */
function findVariable(column: Column, output: string | undefined): string | null {
  if (column.kind === 'input') return `{{${column.key}}}`
  return column.node.outputs?.find(({ name }) => name === output)?.reference ?? null
}

function Figures({
  statistics: { rows, looked_at, precision, columns },
  column,
  variable,
}: {
  statistics: RowStatistics
  column: Column
  variable: string | null
}) {
  const [first] = columns
  const last = columns.at(-1)
  if (first === undefined || last === undefined) return null
  return (
    <>
      {precision === 'sampled' && (
        <p role="status" className="rounded-md bg-out-of-credits-bg px-3 py-2 text-out-of-credits">
          {`Sampled: all counts are of ${plural(looked_at, 'row')} out of ${figure(rows)}.`}
        </p>
      )}
      <p className="flex gap-x-5 text-14">
        <span>{`Filled ${figure(first.filled)}`}</span>
        <span>{`Empty ${figure(first.empty)}`}</span>
        <span>{`Unique ${figure(first.unique)}`}</span>
      </p>
      {variable !== null && <Values statistics={first} variable={variable} />}
      {column.kind === 'action' && <Action statistics={last} column={column} />}
    </>
  )
}

function Values({ statistics, variable }: { statistics: ColumnStatistics; variable: string }) {
  const { numbers, dates, most_frequent } = statistics
  return (
    <>
      {most_frequent.length > 0 && (
        <Group name="Most frequent">
          <Bars bars={valueBars(statistics, variable)} />
        </Group>
      )}
      {numbers !== null && (
        <Group name="Numbers">
          <Facts
            facts={[
              ['Min', figure(numbers.min)],
              ['Median', figure(numbers.median)],
              ['Average', figure(numbers.average)],
              ['Max', figure(numbers.max)],
              ['Sum', figure(numbers.sum)],
            ]}
          />
          <Bars bars={numberBars(statistics, variable)} />
        </Group>
      )}
      {dates !== null && (
        <Group name="Dates">
          <Facts
            facts={[
              ['Min', dates.min.slice(0, 10)],
              ['Median', dates.median.slice(0, 10)],
              ['Max', dates.max.slice(0, 10)],
            ]}
          />
          <Bars bars={dateBars(statistics, variable)} />
        </Group>
      )}
    </>
  )
}

function Action({ statistics, column }: { statistics: ColumnStatistics; column: ActionColumn }) {
  const { address } = useSheet()
  const { selection } = address
  const { action } = statistics
  if (action === null) return null
  const bars = statusBars(statistics)
  const most = Math.max(...bars.map(({ count }) => count))
  return (
    <>
      <Group name="Statuses">
        {bars.map(({ label, count, status }) => (
          <Bar
            key={label}
            label={label}
            count={count}
            share={count / most}
            isOn={status !== null && hasStatus(selection, column.key, status)}
            onClick={
              status === null ? null : () => address.select(toggleStatus(selection, column.key, status))
            }
          />
        ))}
        <p>{`Spent ${plural(action.credits, 'credit')}`}</p>
      </Group>
      {action.providers.length > 0 && (
        <Group name="Hit rates">
          {action.providers.map(({ provider, asked, hits, hit_rate }) => (
            <Bar
              key={provider}
              label={provider}
              note={`${figure(hits)} of ${figure(asked)}, ${Math.round(hit_rate * 100)}%`}
              count={hits}
              share={hit_rate}
            />
          ))}
        </Group>
      )}
    </>
  )
}

function Facts({ facts }: { facts: readonly [string, string][] }) {
  return (
    <dl className="grid grid-cols-[90px_1fr] gap-x-3 gap-y-0.5">
      {facts.map(([fact, value]) => (
        <div key={fact} className="contents">
          <dt className="text-muted">{fact}</dt>
          <dd className="min-w-0 break-all">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Bars({ bars }: { bars: readonly StatisticsBar[] }) {
  const { address } = useSheet()
  const { selection } = address
  const most = Math.max(...bars.map(({ count }) => count))
  return bars.map(({ label, count, filters }, place) => (
    <Bar
      // Two bars of a histogram can have the same label.
      key={`${place} ${label}`}
      label={label}
      count={count}
      share={count / most}
      isOn={filters !== null && hasFilters(selection, filters)}
      onClick={filters === null ? null : () => address.select(toggleFilters(selection, filters))}
    />
  ))
}

/** A bar with its count. With `onClick` it is a button, which is pressed while the filter is on. */
function Bar({
  label,
  count,
  share,
  note,
  isOn = false,
  onClick = null,
}: {
  label: string
  count: number
  share: number
  note?: string
  isOn?: boolean
  onClick?: (() => void) | null
}) {
  const content: ReactNode = (
    <>
      <span
        aria-hidden
        className={classNames('absolute inset-y-0 left-0 rounded', isOn ? 'bg-accent/35' : 'bg-selected')}
        style={{ width: `${Math.max(1, share * 100)}%` }}
      />
      <span className="relative min-w-0 flex-1 truncate text-left">{label}</span>
      {/* The space keeps the visible text equal to the name of the button. */}{' '}
      <span className="relative shrink-0 text-muted">{note ?? figure(count)}</span>
    </>
  )
  const look = 'relative flex h-6 w-full items-center gap-3 rounded px-2 text-12'
  if (onClick === null) return <div className={look}>{content}</div>
  return (
    <button
      type="button"
      aria-label={`${label}: ${figure(count)}`}
      aria-pressed={isOn}
      title={isOn ? 'Remove the filter' : `Show only these rows: ${label.slice(0, 200)}`}
      onClick={onClick}
      className={classNames(look, 'hover:bg-hover')}
    >
      {content}
    </button>
  )
}
