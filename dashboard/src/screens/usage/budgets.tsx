import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/calls.ts'
import { fetchData, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useCan } from '../../api/session.ts'
import { workflowsQuery } from '../../api/workflows.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { figure } from '../../ui/figure.ts'
import { Plus } from '../../ui/icons.tsx'
import { Problem } from '../../ui/problem.tsx'
import { ProgressBar } from '../../ui/progress-bar.tsx'
import { RowAction, RowActions } from '../../ui/row-actions.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { BudgetDialog } from './budget-dialog.tsx'
import { type Budget, PERIODS, TRIGGERS } from './budget-fields.ts'

type OpenDialog =
  | { verb: 'new' }
  | { verb: 'edit' | 'delete'; budget: Budget }
  | { verb: 'show'; secret: string }

/** The budgets with their limits, spending and alerts. */
export function Budgets() {
  const budgets = useQuery({
    queryKey: keys.budgets,
    queryFn: ({ signal }) => fetchData(call('GET /credits/budgets'), { signal }),
    refetchInterval: 10_000,
  })
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const can = useCan()
  const canWrite = can('credits:write')
  const findSubjectName = useSubjectNames(budgets.data ?? [])
  const queries = useQueryClient()
  const close = () => setDialog(null)
  return (
    <section aria-label="Budgets" className="flex flex-col gap-2">
      <div className="flex items-center gap-2">
        <h2 className="mr-auto text-14 font-semibold">Budgets</h2>
        {canWrite && (
          <Button size="small" icon={Plus} onClick={() => setDialog({ verb: 'new' })}>
            New budget
          </Button>
        )}
      </div>
      {budgets.error !== null && <Problem error={budgets.error} onRetry={() => void budgets.refetch()} />}
      {budgets.data === undefined && budgets.error === null && <Skeleton lines={2} />}
      {budgets.data?.length === 0 && (
        <p className="text-muted">
          No budgets: only the balance limits spending. A budget stops or warns at a limit per day, month or
          run, or in total, for the organisation or for one member, key, workflow or sheet.
        </p>
      )}
      {budgets.data !== undefined && budgets.data.length > 0 && (
        <Table
          label="Budgets"
          columns={buildColumns(findSubjectName, canWrite ? setDialog : null)}
          items={budgets.data}
          getKey={({ budget_id }) => budget_id}
        />
      )}
      {(dialog?.verb === 'new' || dialog?.verb === 'edit') && (
        <BudgetDialog
          budget={dialog.verb === 'edit' ? dialog.budget : null}
          onMade={(secret) => setDialog(secret === null ? null : { verb: 'show', secret })}
          onClose={close}
        />
      )}
      {dialog?.verb === 'delete' && (
        <ConfirmDialog
          title={`Delete ${dialog.budget.name}`}
          description={
            dialog.budget.mode === 'stop'
              ? 'This budget will no longer stop any spending.'
              : 'This budget will no longer send alerts.'
          }
          verb="Delete"
          run={async () => {
            await send(
              call('DELETE /credits/budgets/:budget_id', { params: { budget_id: dialog.budget.budget_id } }),
            )
            await queries.invalidateQueries({ queryKey: keys.budgets })
          }}
          onClose={close}
        />
      )}
      {dialog?.verb === 'show' && <SigningSecret secret={dialog.secret} onClose={close} />}
    </section>
  )
}

/** The dialog that shows the signing secret. The secret cannot be read again. */
function SigningSecret({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      title="Budget created"
      description="Alerts are signed with this secret. Copy it now. It will not be shown again."
      closeLabel="Done"
      footer={<CopyButton label="Copy secret" text={() => secret} />}
    >
      <TextField label="Signing secret" value={secret} onFocus={({ target }) => target.select()} />
    </Dialog>
  )
}

/** Returns a function that names the subject of a budget. Workflows and keys are loaded only if a budget needs them. */
function useSubjectNames(budgets: readonly Budget[]): (budget: Budget) => string {
  const has = (scopes: readonly string[]) => budgets.some(({ scope }) => scopes.includes(scope))
  const workflows = useQuery({ ...workflowsQuery, enabled: has(['workflow', 'sheet']) })
  const apiKeys = useQuery({
    queryKey: keys.apiKeys,
    queryFn: ({ signal }) => fetchData(call('GET /internal/keys'), { signal }),
    enabled: has(['key']),
  })
  return ({ scope, subject }) => {
    if (subject === null) return 'The organisation'
    if (scope === 'member') return subject
    if (scope === 'key') {
      return `Key ...${apiKeys.data?.find(({ key_id }) => key_id === subject)?.last4 ?? subject.slice(-4)}`
    }
    const name = workflows.data?.find(({ workflow_id }) => workflow_id === subject)?.name ?? subject
    return scope === 'sheet' ? `${name}, sheet` : name
  }
}

function buildColumns(
  findSubjectName: (budget: Budget) => string,
  open: ((dialog: OpenDialog) => void) | null,
): readonly Column<Budget>[] {
  return [
    {
      name: 'Name',
      cell: (budget) => (
        <>
          <span className="font-medium break-words">{budget.name}</span>
          <span className="block text-12 break-words text-muted">
            {findSubjectName(budget)}
            {budget.trigger !== null &&
              `, ${TRIGGERS.find(({ value }) => value === budget.trigger)?.label ?? budget.trigger}`}
          </span>
        </>
      ),
    },
    {
      name: 'Counts',
      wideOnly: true,
      cell: ({ period, mode }) =>
        `${PERIODS.find(({ value }) => value === period)?.label ?? period}, ${mode === 'stop' ? 'stops' : 'warns'}`,
    },
    { name: 'Spent', cell: (budget) => <Spent budget={budget} /> },
    {
      name: 'Alerts sent',
      wideOnly: true,
      cell: ({ alerts }) =>
        alerts.length === 0 ? (
          <span className="text-muted">none</span>
        ) : (
          alerts.map(({ threshold }) => `${threshold}%`).join(', ')
        ),
    },
    {
      name: 'Actions',
      hideName: true,
      align: 'right',
      cell: (budget) =>
        open !== null && (
          <RowActions>
            <RowAction verb="Edit" of={budget.name} onClick={() => open({ verb: 'edit', budget })} />
            <RowAction verb="Delete" of={budget.name} onClick={() => open({ verb: 'delete', budget })} />
          </RowActions>
        ),
    },
  ]
}

function Spent({ budget: { name, spent, held, limit, period } }: { budget: Budget }) {
  if (period === 'run') return <>{`at most ${figure(limit)} per run`}</>
  return (
    <div className="flex min-w-28 flex-col gap-1">
      <span className="tabular-nums">
        {`${figure(spent)} of ${figure(limit)}`}
        {held > 0 && <span className="text-muted">{`, ${figure(held)} reserved`}</span>}
      </span>
      <ProgressBar label={`Spent of ${name}`} value={spent} max={limit} isFull={spent >= limit} />
    </div>
  )
}
