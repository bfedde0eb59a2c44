import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { sheetCall, type SheetId } from '../../api/calls.ts'
import { useCauses } from '../../api/causes.ts'
import { keys } from '../../api/keys.ts'
import { useCan } from '../../api/session.ts'
import type { Run } from '../../api/sheet.ts'
import { Button } from '../../ui/button.tsx'
import { plural } from '../../ui/figure.ts'
import { Play } from '../../ui/icons.tsx'
import { Problem } from '../../ui/problem.tsx'
import { notify } from '../../ui/toasts.tsx'
import { CausesTable } from './causes-table.tsx'
import { StartAgain } from './start-again.tsx'

/** The failures of a run, grouped by cause. Buttons show the rows of a cause or run them again. */
export function RunSummary({ sheet, run }: { sheet: SheetId; run: Run }) {
  const hasFailed = run.cells_failed > 0
  const causes = useCauses(sheet, { runId: run.run_id, enabled: hasFailed })
  return (
    <section aria-label="Failures by cause" className="flex flex-col gap-2">
      <h2 className="text-14 font-semibold">Failures by cause</h2>
      <p className="text-muted">{describeRun(run)}</p>
      {run.rows_out_of_credits > 0 && <OutOfCredits sheet={sheet} run={run} />}
      {!hasFailed ? (
        <p className="text-muted">{run.state === 'running' ? 'No failures so far.' : 'No failures.'}</p>
      ) : causes.error !== null ? (
        <Problem error={causes.error} onRetry={() => void causes.refetch()} />
      ) : causes.data?.causes.length === 0 ? (
        <p className="text-muted">No failed cell of this run is left: they have been run again or kept.</p>
      ) : (
        <CausesTable sheet={sheet} causes={causes.data} />
      )}
    </section>
  )
}

/** Returns the counts of a run that are not zero, in words. */
function describeRun(run: Run): string {
  const counts: [number, string][] = [
    [run.rows_done, `${plural(run.rows_done, 'row')} done`],
    [run.rows_failed, `${plural(run.rows_failed, 'row')} failed`],
    [run.rows_out_of_credits, `${plural(run.rows_out_of_credits, 'row')} out of credits`],
    [run.cells_skipped, `${plural(run.cells_skipped, 'cell')} skipped by conditions`],
    [run.cells_kept, `${plural(run.cells_kept, 'cell')} kept the former result`],
  ]
  const words = counts.filter(([count]) => count > 0).map(([, text]) => text)
  return words.length === 0 ? 'Nothing done yet' : words.join(', ')
}

/** The notice about rows that ran out of credits. Resuming continues them in the same run where they stopped. */
function OutOfCredits({ sheet, run }: { sheet: SheetId; run: Run }) {
  const [isAsking, setAsking] = useState(false)
  const can = useCan()
  const queries = useQueryClient()
  const why = run.stopped_by === null ? '' : `: ${STOPPED_BY[run.stopped_by.kind]}`
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-2 rounded-md bg-out-of-credits-bg px-3 py-2"
    >
      <span className="mr-auto text-out-of-credits">
        {`${plural(run.rows_out_of_credits, 'row')} ran out of credits${why}`}
      </span>
      {can('workflows:run') && (
        <Button size="small" icon={Play} onClick={() => setAsking(true)}>
          Resume
        </Button>
      )}
      {isAsking && (
        <StartAgain
          title="Resume run"
          verb="Resume"
          again={(limit) =>
            sheetCall(sheet, 'POST /runs/:run_id/resume', { params: { run_id: run.run_id }, body: limit })
          }
          hint="New credit limit for the whole run, including credits already spent (optional). If empty, the limit is unchanged."
          onStarted={(rows) => {
            notify(`${plural(rows, 'row')} resumed`)
            void queries.invalidateQueries({ queryKey: keys.sheet(sheet.sheetId).runs })
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  )
}

const STOPPED_BY = {
  max_credits: 'the credit limit of the run was reached',
  budget: 'a budget was reached',
  balance: 'the balance was used up',
} as const
