import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { FailureCause } from '#contract/screens.ts'
import { dryRun, sheetCall, type SheetId, sheetPath } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { selectionQuery } from '../../api/selection-address.ts'
import { useCan } from '../../api/session.ts'
import { actionsQuery, type Run, type StatusFilter } from '../../api/sheet.ts'
import { useGo } from '../../frame/go.ts'
import { Button } from '../../ui/button.tsx'
import { CopyAsCurl } from '../../ui/copy-button.tsx'
import { figure, plural } from '../../ui/figure.ts'
import { Filter, Play, RotateCcw } from '../../ui/icons.tsx'
import { Problem } from '../../ui/problem.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { notify, notifyProblem } from '../../ui/toasts.tsx'
import { StartAgain } from './start-again.tsx'

/** The failures of a run, grouped by cause. Buttons show the rows of a cause or run them again. */
export function RunSummary({ sheet, run }: { sheet: SheetId; run: Run }) {
  const causes = useQuery({
    queryKey: keys.sheet(sheet.sheetId).failures(run.run_id, run.cells_failed),
    queryFn: ({ signal }) =>
      fetchData(sheetCall(sheet, 'GET /internal/runs/:run_id/failures', { params: { run_id: run.run_id } }), {
        signal,
      }),
    enabled: run.cells_failed > 0,
  })
  const actions = useQuery(actionsQuery(sheet))
  const findName = (id: string) =>
    actions.data?.find(({ action_instance_id }) => action_instance_id === id)?.display_name ?? id
  return (
    <section aria-label="Failures by cause" className="flex flex-col gap-2">
      <h2 className="text-14 font-semibold">Failures by cause</h2>
      {run.rows_out_of_credits > 0 && <OutOfCredits sheet={sheet} run={run} />}
      {run.cells_failed === 0 ? (
        <p className="text-muted">{run.state === 'running' ? 'No failures so far.' : 'No failures.'}</p>
      ) : causes.error !== null ? (
        <Problem error={causes.error} onRetry={() => void causes.refetch()} />
      ) : causes.data?.length === 0 ? (
        <p className="text-muted">The failed cells have been run again since.</p>
      ) : (
        <Table
          label="Failures by cause"
          columns={buildColumns(sheet, findName)}
          items={causes.data ?? []}
          getKey={({ action_instance_id, status, error }) => `${action_instance_id} ${status} ${error}`}
        />
      )}
    </section>
  )
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

function buildColumns(sheet: SheetId, findName: (id: string) => string): readonly Column<FailureCause>[] {
  return [
    { name: 'Action', cell: ({ action_instance_id }) => findName(action_instance_id) },
    { name: 'Cause', cell: ({ error }) => <span className="line-clamp-3 break-words">{error}</span> },
    { name: 'Cells', align: 'right', cell: ({ cells }) => figure(cells) },
    {
      name: 'Actions',
      hideName: true,
      align: 'right',
      cell: (cause) => <CauseActions sheet={sheet} cause={cause} name={findName(cause.action_instance_id)} />,
    },
  ]
}

function CauseActions({ sheet, cause, name }: { sheet: SheetId; cause: FailureCause; name: string }) {
  const go = useGo()
  const can = useCan()
  const queries = useQueryClient()
  const status_filters: StatusFilter[] = [
    { action_instance_id: cause.action_instance_id, is: [cause.status] },
  ]
  const again = (limit: { max_credits?: number }) =>
    sheetCall(sheet, 'POST /actions/:action_instance_id/run', {
      params: { action_instance_id: cause.action_instance_id },
      body: { status_filters, run_next_action: true, ...limit },
    })
  const [isAsking, setAsking] = useState(false)
  const onRerun = (rows: number) => {
    notify(`Running ${plural(rows, 'row')} again from ${name}`)
    void queries.invalidateQueries({ queryKey: keys.sheet(sheet.sheetId).runs })
  }
  // A free rerun starts without a dialog, so the price is requested first.
  const rerun = useMutation({
    mutationFn: async () => {
      const { credits } = await fetchData(dryRun(again({})))
      if (credits.at_most !== 0) return setAsking(true)
      onRerun((await fetchData(again({ max_credits: 0 }))).rows_queued)
    },
    onError: notifyProblem,
  })
  return (
    <div className="flex flex-wrap justify-end gap-1">
      <Button
        size="small"
        icon={Filter}
        aria-label={`Show rows where ${name} ${STATUS_TEXTS[cause.status]}`}
        onClick={() => go(`${sheetPath(sheet)}${selectionQuery({ filters: [], status_filters, find: '' })}`)}
      >
        Show rows
      </Button>
      {can('workflows:run') && (
        <>
          <Button size="small" icon={RotateCcw} busy={rerun.isPending} onClick={() => rerun.mutate()}>
            Run again
          </Button>
          <CopyAsCurl size="small" call={again({})} />
        </>
      )}
      {isAsking && (
        <StartAgain
          title={`Run ${name} again`}
          verb="Run"
          again={again}
          onStarted={onRerun}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  )
}

const STATUS_TEXTS: Record<FailureCause['status'], string> = {
  failed: 'failed',
  error: 'had an error',
  out_of_credits: 'was out of credits',
}
