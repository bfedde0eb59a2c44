import { useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { useStore } from 'zustand'
import { isAway, useWaitingChanges } from '../../api/outbox.ts'
import { isFiltered, runsQuery } from '../../api/sheet.ts'
import { Button } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { plural } from '../../ui/figure.ts'
import { LoaderCircle } from '../../ui/icons.tsx'
import { notifyProblem } from '../../ui/toasts.tsx'
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
      <LastRun run={runs?.[0]} />
    </footer>
  )
}

/** A text is looked for while its first rows are shown already. */
function SearchProgress() {
  const { rows } = useSheet()
  const words = useSyncExternalStore(
    (listener) => rows.subscribeCount(listener),
    () => searchWords(rows.search),
  )
  return (
    <p role="status" aria-label="Search" className="flex min-w-0 items-center gap-2 text-12 text-muted">
      <span className="truncate">{words}</span>
      {rows.search?.isPaused === true && (
        <Button kind="ghost" onClick={() => void rows.search?.lookFurther().catch(notifyProblem)}>
          Look further
        </Button>
      )}
    </p>
  )
}

function searchWords(search: TextSearch | null): string {
  if (search === null || search.isOver) return ''
  const words = `Looked through ${search.lookedAt.toLocaleString('en')} of ${plural(search.rows, 'row')}`
  return search.isPaused ? words : `${words}…`
}

/** Nothing to say while all is well. */
function Connection() {
  const { connection, rows } = useSheet()
  const { isStreaming, hadStream } = useStore(connection)
  const waiting = useWaitingChanges()
  const isLost = useSyncExternalStore(
    (listener) => rows.subscribeCount(listener),
    () => isAway(rows.problem),
  )
  const isBroken = isLost || waiting > 0 || (hadStream && !isStreaming)
  const words = waiting === 0 ? '' : ` ${plural(waiting, 'change')} will be sent then.`
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
          <span className="truncate">{`The server is away; trying again.${words}`}</span>
        </>
      )}
    </p>
  )
}
