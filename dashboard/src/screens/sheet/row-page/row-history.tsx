import { useInfiniteQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import type { RowEntry } from '#contract/row-history.ts'
import { sheetCall, type SheetId } from '../../../api/calls.ts'
import { fetchData, LIVE } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import { Button } from '../../../ui/button.tsx'
import { plural } from '../../../ui/figure.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { TimeText } from '../../../ui/time-text.tsx'
import { valueText } from '../cell-text.ts'

type Entry = z.infer<typeof RowEntry>

/** The history of a row, newest first: who added, edited and ran it. */
export function RowHistory({ sheet, rowId }: { sheet: SheetId; rowId: string }) {
  const history = useInfiniteQuery({
    queryKey: keys.sheet(sheet.sheetId).rowHistory(rowId),
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      fetchData(
        sheetCall(sheet, 'GET /rows/:row_id/history', {
          params: { row_id: rowId },
          query: pageParam === '' ? {} : { cursor: pageParam },
        }),
        { signal },
      ),
    getNextPageParam: ({ next_cursor }) => next_cursor,
    ...LIVE,
  })
  const entries = history.data?.pages.flatMap((page) => page.entries) ?? []
  return (
    <section aria-label="History of the row" className="flex flex-col gap-2">
      <h2 className="text-14 font-semibold">History</h2>
      {history.error !== null && <Problem error={history.error} onRetry={() => void history.refetch()} />}
      {history.isPending ? (
        <Skeleton lines={3} />
      ) : (
        <ul aria-label="History" className="flex flex-col gap-2">
          {entries.map((entry) => (
            <HistoryEntry key={`${entry.at} ${entry.kind} ${entry.run_id ?? ''}`} entry={entry} />
          ))}
        </ul>
      )}
      {history.hasNextPage && (
        <Button busy={history.isFetchingNextPage} onClick={() => void history.fetchNextPage()}>
          Older entries
        </Button>
      )}
    </section>
  )
}

const KINDS = { added: 'Added', edited: 'Edited', run: 'Run' } as const

function HistoryEntry({ entry: { at, kind, by, credits, changes = [] } }: { entry: Entry }) {
  const cost = credits === undefined ? '' : `, ${plural(credits, 'credit')}`
  return (
    <li className="border-l-2 pl-3">
      <p className="flex flex-wrap justify-between gap-x-3">
        <span className="wrap-anywhere">{`${KINDS[kind]}${by === null ? '' : ` by ${by}`}${cost}`}</span>
        <span className="text-12 text-muted">
          <TimeText at={at} />
        </span>
      </p>
      {changes.map(({ input, before, after }, place) => (
        <p key={`${place} ${input}`} className="text-12 wrap-anywhere text-muted">
          {`${input ?? 'A removed input'}: ${quote(before)} became ${quote(after)}`}
        </p>
      ))}
    </li>
  )
}

function quote(value: unknown): string {
  const text = valueText(value)
  return text === '' ? 'empty' : `“${text}”`
}
