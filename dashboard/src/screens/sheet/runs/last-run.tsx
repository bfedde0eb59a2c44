import type { Run } from '../../../api/sheet.ts'
import { plural } from '../../../ui/figure.ts'
import { ProgressBar } from '../../../ui/progress-bar.tsx'
import { credits } from './run-dialog.tsx'

/** The progress and the cost so far of the latest run. */
export function LastRun({ run }: { run: Run | undefined }) {
  const isRunning = run?.state === 'running'
  return (
    <div className="flex min-w-0 items-center gap-3">
      {isRunning && (
        <div className="w-32 shrink-0">
          <ProgressBar label="Run progress" value={run.rows_done} max={run.rows_queued} />
        </div>
      )}
      <p role="status" aria-label="Last run" className="truncate text-12 text-muted">
        {run === undefined
          ? 'Not run yet'
          : `${run.rows_done.toLocaleString('en')} of ${plural(run.rows_queued, 'row')}, ${run.cells_failed.toLocaleString('en')} failed, ${credits(run.credits)}`}
        {run?.state === 'stopped' && ', stopped'}
      </p>
    </div>
  )
}
