import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Cause, Causes } from '#contract/causes.ts'
import { dryRun, sheetCall, type SheetId, sheetPath } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { selectionQuery } from '../../api/selection-address.ts'
import { ALL_ROWS } from '../../api/selection.ts'
import { useCan } from '../../api/session.ts'
import { actionsQuery } from '../../api/sheet.ts'
import { useGo } from '../../frame/go.ts'
import { Button } from '../../ui/button.tsx'
import { CopyAsCurl } from '../../ui/copy-button.tsx'
import { figure, plural } from '../../ui/figure.ts'
import { Filter, RotateCcw } from '../../ui/icons.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { notify, notifyProblem } from '../../ui/toasts.tsx'
import { StartAgain } from './start-again.tsx'

/** The causes of failed cells. Buttons show the rows of a cause, or run them again from the failed cell on. */
export function CausesTable({
  sheet,
  causes,
  onLeave,
}: {
  sheet: SheetId
  causes: Causes | undefined
  /** Runs when the rows of a cause are shown. */
  onLeave?: () => void
}) {
  const actions = useQuery(actionsQuery(sheet))
  const findName = (id: string) =>
    actions.data?.find(({ action_instance_id }) => action_instance_id === id)?.display_name ?? id
  return (
    <>
      <Table
        label="Failures by cause"
        columns={buildColumns({ sheet, findName, onLeave })}
        items={causes?.causes ?? []}
        getKey={({ cause }) => cause}
      />
      {causes?.truncated === true && (
        <p className="text-12 text-muted">{`The ${plural(causes.causes.length, 'largest cause', 'largest causes')} of more.`}</p>
      )}
    </>
  )
}

type Shown = { sheet: SheetId; findName: (id: string) => string; onLeave: (() => void) | undefined }

function buildColumns({ sheet, findName, onLeave }: Shown): readonly Column<Cause>[] {
  return [
    { name: 'Action', cell: ({ action_instance_id }) => findName(action_instance_id) },
    { name: 'Cause', cell: (cause) => <CauseWords cause={cause} /> },
    { name: 'Rows', align: 'right', cell: ({ rows }) => figure(rows) },
    {
      name: 'Actions',
      hideName: true,
      align: 'right',
      cell: (cause) => (
        <CauseActions
          sheet={sheet}
          cause={cause}
          name={findName(cause.action_instance_id)}
          onLeave={onLeave}
        />
      ),
    },
  ]
}

/** Shows a cause in words and what to do, with the errors of its cells behind. */
function CauseWords({ cause: { words, hint, raw } }: { cause: Cause }) {
  return (
    <div className="flex max-w-[560px] flex-col gap-0.5 py-1 max-md:max-w-none">
      <span className="font-medium break-words">{words}</span>
      <span className="text-12 break-words text-muted">{hint}</span>
      <details className="text-12 text-muted">
        <summary className="cursor-pointer">{plural(raw.length, 'error text')}</summary>
        <ul className="flex max-h-40 flex-col gap-1 overflow-y-auto pt-1 font-mono">
          {raw.map((text) => (
            <li key={text} className="break-words whitespace-pre-wrap">
              {text}
            </li>
          ))}
        </ul>
      </details>
    </div>
  )
}

function CauseActions({
  sheet,
  cause: { cause, action_instance_id, words },
  name,
  onLeave,
}: {
  sheet: SheetId
  cause: Cause
  name: string
  onLeave: (() => void) | undefined
}) {
  const go = useGo()
  const can = useCan()
  const queries = useQueryClient()
  const again = (limit: { max_credits?: number }) =>
    sheetCall(sheet, 'POST /actions/:action_instance_id/run', {
      params: { action_instance_id },
      body: { cause, run_next_action: true, ...limit },
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
        title={`Rows where ${name} failed: ${words}`}
        onClick={() => {
          go(`${sheetPath(sheet)}${selectionQuery({ ...ALL_ROWS, cause })}`)
          onLeave?.()
        }}
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
