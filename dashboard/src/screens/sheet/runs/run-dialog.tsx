import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { sheetCall } from '../../../api/calls.ts'
import { fetchData, fieldProblem, send } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import { type Estimate, selectionBody } from '../../../api/sheet.ts'
import { CopyAsCurl } from '../../../ui/copy-button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { plural } from '../../../ui/figure.ts'
import { Problem } from '../../../ui/problem.tsx'
import { spending } from '../../../ui/spend-at-most.tsx'
import { TextField } from '../../../ui/text-field.tsx'
import { notifyProblem } from '../../../ui/toasts.tsx'
import { useCount, useSheet } from '../sheet-view.ts'
import { type RunChoice, buildRunCalls } from './run-choice.ts'

export const credits = (amount: number) => plural(amount, 'credit')

/** The dialog before a run. It shows the estimated cost and offers a credit limit. */
export function RunDialog({ choice: asked, onClose }: { choice: RunChoice; onClose: () => void }) {
  const { sheet, address, refresh, columns } = useSheet()
  const [limit, setLimit] = useState('')
  const [choice, setChoice] = useState<RunChoice>(
    asked.kind === 'column' ? { kind: 'needed', action: asked.action } : asked,
  )
  const { run, estimate } = buildRunCalls(sheet, choice, address.selection, {
    ...spending(limit),
    sort: address.sort,
  })
  const price = useQuery({
    queryKey: keys.estimate(estimate),
    staleTime: 0,
    gcTime: 0,
    queryFn: () => fetchData(estimate),
  })
  const start = useMutation({
    mutationFn: () => send(run),
    onSuccess: ({ warnings }) => {
      for (const { field, message } of warnings) notifyProblem(`${field}: ${message}`)
      refresh()
      onClose()
    },
  })
  const limitProblem = fieldProblem(start.error, 'max_credits')
  const hasActions = columns.some(({ kind }) => kind === 'action')
  return (
    <Dialog
      open
      onClose={onClose}
      title={asked.kind === 'column' ? 'Run column' : 'Run rows'}
      submit={{
        label: 'Run',
        onSubmit: () => start.mutate(),
        busy: start.isPending,
        disabled: !hasActions || price.data?.rows === 0,
      }}
      footer={<CopyAsCurl call={run} />}
      error={limitProblem === undefined ? start.error : null}
    >
      {!hasActions && <p className="text-muted">This sheet has no actions yet. Add an action first.</p>}
      {asked.kind === 'column' && <ColumnRows action={asked.action} choice={choice} onChoose={setChoice} />}
      {(choice.kind === 'failed' || choice.kind === 'unfinished') && (
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            checked={choice.isFromStart === true}
            onChange={(event) => setChoice({ kind: choice.kind, isFromStart: event.target.checked })}
          />
          Run all actions of these rows again, from the start
        </label>
      )}
      {hasActions && price.error !== null && (
        <Problem error={price.error} onRetry={() => void price.refetch()} />
      )}
      {hasActions && price.error === null && <Price estimate={price.data} />}
      <TextField
        label="Spend at most"
        type="number"
        min={0}
        step="any"
        value={limit}
        onChange={setLimit}
        problem={limitProblem}
        hint="Credit limit (optional). The run stops before exceeding it."
      />
    </Dialog>
  )
}

/** The choice of the cells of a column that run, and how many results that replaces. */
function ColumnRows({
  action,
  choice,
  onChoose,
}: {
  action: string
  choice: RunChoice
  onChoose: (choice: RunChoice) => void
}) {
  const { sheet, address, rows } = useSheet()
  const count = useCount(rows)
  const results = sheetCall(sheet, 'POST /rows/list', {
    body: {
      ...selectionBody(address.selection),
      status_filters: [
        ...address.selection.status_filters,
        { action_instance_id: action, is: ['complete' as const] },
      ],
      page_size: 1,
    },
  })
  const isAll = choice.kind === 'column'
  const { data } = useQuery({
    queryKey: keys.sheet(sheet.sheetId).results(action, address.selection),
    queryFn: async ({ signal }) => (await fetchData(results, { signal })).total_count,
    enabled: isAll,
    staleTime: 0,
  })
  const replaced = isAll ? data : 0
  return (
    <div role="radiogroup" aria-label="Cells to run" className="flex flex-col gap-1">
      <Radio
        label="Empty and failed only"
        isChosen={!isAll}
        onChoose={() => onChoose({ kind: 'needed', action })}
      />
      <Radio
        label={count === null ? 'All' : `All ${count.toLocaleString('en')}`}
        isChosen={isAll}
        onChoose={() => onChoose({ kind: 'column', action })}
      />
      <p role="status" className="text-muted">
        {replaced === undefined ? 'Counting results…' : `Replaces ${plural(replaced, 'result')}`}
      </p>
    </div>
  )
}

function Radio({ label, isChosen, onChoose }: { label: string; isChosen: boolean; onChoose: () => void }) {
  return (
    <label className="flex items-center gap-2">
      <input type="radio" name="cells" checked={isChosen} onChange={onChoose} />
      {label}
    </label>
  )
}

function Price({ estimate }: { estimate: Estimate | undefined }) {
  const { columns } = useSheet()
  if (estimate === undefined) {
    return (
      <p role="status" className="text-muted">
        Estimating…
      </p>
    )
  }
  const { rows, cells, credits: price, balance, actions, precision } = estimate
  const nodes = columns.flatMap((column) => (column.kind === 'action' ? [column.node] : []))
  const names = new Map(nodes.map((node) => [node.action_instance_id, node.display_name]))
  // Cells are also known not to run where a required value is empty, or an action before them gives nothing.
  const whySkipped = nodes.some(({ run_if }) => run_if !== undefined)
    ? 'skipped by conditions or empty values'
    : 'without the values they need'
  return (
    <div className="flex flex-col gap-2">
      <p className="text-muted">
        {plural(rows, 'row')}, {plural(cells.total, 'cell')}
        {cells.cached > 0 && `, ${cells.cached.toLocaleString('en')} from the cache`}
        {cells.skipped > 0 && `, ${cells.skipped.toLocaleString('en')} ${whySkipped}`}
        {precision === 'sampled' && ', from a sample'}
      </p>
      <p className="text-14 font-medium">
        {price.at_most === null
          ? 'Estimate: no upper limit known'
          : `Estimate: at most ${credits(price.at_most)}`}
      </p>
      {price.at_most !== price.expected && (
        <p className="text-muted">{`Expected: ${credits(price.expected)}`}</p>
      )}
      <p>{`Balance: ${credits(balance.now)}`}</p>
      {price.at_most !== 0 && (
        <ul aria-label="By action" className="rounded-md border px-3 py-1 text-12">
          {actions.map(({ action_instance_id, cells, credits: bound }) => (
            <li key={action_instance_id} className="flex justify-between gap-4 py-0.5">
              <span className="truncate">{names.get(action_instance_id) ?? action_instance_id}</span>
              <span className="shrink-0 text-muted">{`${plural(cells, 'cell')}, at most ${credits(bound.at_most)}`}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
