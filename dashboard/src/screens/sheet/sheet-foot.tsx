import { useQuery } from '@tanstack/react-query'
import { useState, useSyncExternalStore } from 'react'
import { useStore } from 'zustand'
import { useCauses } from '../../api/causes.ts'
import { isUnavailable, useWaitingChanges } from '../../api/outbox.ts'
import { isFiltered, runsQuery } from '../../api/sheet.ts'
import { Button } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { plural } from '../../ui/figure.ts'
import { CircleX, LoaderCircle } from '../../ui/icons.tsx'
import { notifyProblem } from '../../ui/toasts.tsx'
import { CausesTable } from '../runs/causes-table.tsx'
import { useAllRows } from './column-progress.ts'
import { LastRun } from './runs/last-run.tsx'
import { useCount, useSheet } from './sheet-view.ts'
import type { TextSearch } from './text-search.ts'

export function SheetFoot() {
  const { rows, sheet, address } = useSheet()
  const shown = useCount(rows)
  const all = useAllRows()
  const { data: runs } = useQuery(runsQuery(sheet))
  const count =
    shown === null
      ? ''
      : isFiltered(address.selection)
        ? `${shown.toLocaleString('en')} of ${plural(all ?? shown, 'row')}`
        : plural(shown, 'row')
  return (
    <footer className="flex items-center justify-between gap-4 border-t bg-subtle px-3 py-1.5">
      <p role="status" aria-label="Row count" className="shrink-0 text-12 text-muted">
        {count}
      </p>
      <SearchProgress />
      <Connection />
      <div className="flex min-w-0 items-center gap-2">
        <Failures />
        <LastRun run={runs?.[0]} />
      </div>
    </footer>
  )
}

/** A button with the number of failed cells, which shows them by cause. */
function Failures() {
  const { sheet, can, refresh } = useSheet()
  const [isOpen, setOpen] = useState(false)
  const { data: causes } = useCauses(sheet)
  if (causes === undefined || (causes.cells === 0 && !isOpen)) return null
  const close = () => {
    setOpen(false)
    if (can.run) refresh()
  }
  return (
    <>
      <Button
        kind="ghost"
        size="small"
        icon={CircleX}
        className="shrink-0 text-failed"
        onClick={() => setOpen(true)}
      >
        {plural(causes.cells, 'failed cell')}
      </Button>
      {isOpen && (
        <Dialog open wide title="Failures by cause" closeLabel="Close" onClose={close}>
          <p className="text-muted">
            {causes.cells === 0
              ? 'No cell of this sheet is failed.'
              : `${plural(causes.cells, 'cell')} in ${plural(causes.rows, 'row')}`}
          </p>
          <CausesTable sheet={sheet} causes={causes} onLeave={close} />
        </Dialog>
      )}
    </>
  )
}

/** The progress of a text search, whose first results are already shown. */
function SearchProgress() {
  const { rows } = useSheet()
  const text = useSyncExternalStore(
    (listener) => rows.subscribeCount(listener),
    () => describeSearch(rows.search),
  )
  return (
    <p role="status" aria-label="Search" className="flex min-w-0 items-center gap-2 text-12 text-muted">
      <span className="truncate">{text}</span>
      {rows.search?.isPaused === true && (
        <Button kind="ghost" onClick={() => void rows.search?.searchFurther().catch(notifyProblem)}>
          Search further
        </Button>
      )}
    </p>
  )
}

function describeSearch(search: TextSearch | null): string {
  if (search === null || search.isOver) return ''
  const text = `Searched ${search.lookedAt.toLocaleString('en')} of ${plural(search.rows, 'row')}`
  return search.isPaused ? text : `${text}…`
}

/** The connection status. It is empty while the connection works. */
function Connection() {
  const { connection, rows } = useSheet()
  const { isStreaming, hadStream } = useStore(connection)
  const waiting = useWaitingChanges()
  const isLost = useSyncExternalStore(
    (listener) => rows.subscribeCount(listener),
    () => isUnavailable(rows.problem),
  )
  const isBroken = isLost || waiting > 0 || (hadStream && !isStreaming)
  const unsent = waiting === 0 ? '' : ` ${plural(waiting, 'change')} will be sent when it is back.`
  return (
    <p
      role="status"
      aria-label="Connection"
      className={classNames(
        'flex min-w-0 items-center gap-1.5 text-12',
        isBroken && 'rounded bg-out-of-credits-bg px-2 text-out-of-credits',
      )}
    >
      {isBroken && (
        <>
          <LoaderCircle aria-hidden className="size-3 shrink-0 motion-safe:animate-spin" />
          <span className="truncate">{`The server is unreachable. Retrying…${unsent}`}</span>
        </>
      )}
    </p>
  )
}
