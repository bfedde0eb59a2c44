import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { type Run, runsQuery } from '../../api/sheet.ts'
import { Page } from '../../frame/page.tsx'
import { Refusal } from '../../frame/refusal.tsx'
import { SheetLink } from '../../frame/sheet-link.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { figure } from '../../ui/figure.ts'
import { ListChecks } from '../../ui/icons.tsx'
import { ProgressBar } from '../../ui/progress-bar.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { RunSummary } from './run-summary.tsx'
import { printStarter, STATES } from './run-words.ts'

export function Screen() {
  const sheet = useParams({ from: '/frame/workflows/$workflowId/sheets/$sheetId/runs' })
  const runs = useQuery({
    ...runsQuery(sheet),
    refetchInterval: ({ state }) =>
      state.data?.some(({ state }) => state === 'running') === true ? 1000 : 15_000,
  })
  const [opened, setOpened] = useState<string | null>(null)
  if (runs.error !== null && runs.data === undefined) {
    return <Refusal error={runs.error} title="Runs" onRetry={() => void runs.refetch()} />
  }
  const shown = runs.data?.find(({ run_id }) => run_id === opened) ?? runs.data?.[0]
  return (
    <Page title="Runs" actions={<SheetLink sheet={sheet} />}>
      {runs.data === undefined ? (
        <Skeleton />
      ) : runs.data.length === 0 ? (
        <EmptyState
          icon={ListChecks}
          title="No runs yet"
          text="Runs are listed here with their rows, failures by cause and credits."
        >
          <Link
            to="/workflows/$workflowId/sheets/$sheetId"
            params={sheet}
            className="text-accent-text underline"
          >
            Open the sheet
          </Link>
        </EmptyState>
      ) : (
        <>
          {shown !== undefined && <RunSummary sheet={sheet} run={shown} />}
          <Table
            label="Runs"
            columns={buildColumns(shown?.run_id, setOpened)}
            items={runs.data}
            getKey={({ run_id }) => run_id}
            onOpen={({ run_id }) => setOpened(run_id)}
            openKey={shown?.run_id}
          />
        </>
      )}
    </Page>
  )
}

function buildColumns(shown: string | undefined, open: (runId: string) => void): readonly Column<Run>[] {
  return [
    {
      name: 'Started',
      cell: (run) => (
        <Button
          kind="ghost"
          size="small"
          aria-pressed={run.run_id === shown}
          onClick={() => open(run.run_id)}
          className="-ml-2"
        >
          <TimeText at={run.created_at} />
        </Button>
      ),
    },
    { name: 'State', cell: (run) => <State run={run} /> },
    { name: 'Started by', wideOnly: true, cell: printStarter },
    {
      name: 'Rows',
      align: 'right',
      cell: ({ rows_done, rows_queued }) => (
        <span className="whitespace-nowrap">{`${figure(rows_done)} of ${figure(rows_queued)}`}</span>
      ),
    },
    { name: 'Rows failed', align: 'right', cell: ({ rows_failed }) => figure(rows_failed) },
    {
      name: 'Out of credits',
      align: 'right',
      wideOnly: true,
      cell: ({ rows_out_of_credits }) => figure(rows_out_of_credits),
    },
    { name: 'Credits', align: 'right', cell: ({ credits }) => figure(credits) },
    { name: 'Revision', align: 'right', wideOnly: true, cell: ({ revision }) => revision },
  ]
}

function State({ run }: { run: Run }) {
  if (run.state !== 'running') return <>{STATES[run.state]}</>
  return (
    <div className="flex w-28 items-center gap-2">
      <ProgressBar
        label={`Progress of the run of ${run.created_at}`}
        value={run.rows_done}
        max={run.rows_queued}
      />
    </div>
  )
}
