import { useQuery } from '@tanstack/react-query'
import { isFiltered, runsQuery } from '../../api/sheet.ts'
import { useAllRows } from './column-progress.ts'
import { plural } from './row-edits.ts'
import { LastRun } from './runs/last-run.tsx'
import { useCount, useSheet } from './sheet-view.ts'

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
      <LastRun run={runs?.[0]} />
    </footer>
  )
}
