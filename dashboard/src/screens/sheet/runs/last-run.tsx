import type { Run } from '../../../api/sheet.ts'
import { figure, plural } from '../../../ui/figure.ts'
import { ProgressBar } from '../../../ui/progress-bar.tsx'
import { credits } from './run-dialog.tsx'

const outOfCredits = ({ rows_out_of_credits: rows }: Run): string =>
  rows === 0 ? '' : `${figure(rows)} out of credits, `

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
          : `${figure(run.rows_done)} of ${plural(run.rows_queued, 'row')}, ${figure(run.rows_failed)} failed, ${outOfCredits(run)}${credits(run.credits)}`}
        {run?.state === 'stopped' && ', stopped'}
      </p>
    </div>
  )
}
