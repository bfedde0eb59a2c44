import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import type { ListedKey } from '#contract/settings.ts'
import { get, request } from '../../api/client.ts'
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

type Asked = { verb: 'new' } | { verb: 'edit' | 'delete'; budget: Budget } | { verb: 'show'; secret: string }

/** What may be spent, how much of it is, and who was told. */
export function Budgets() {
  const budgets = useQuery({
    queryKey: ['budgets'],
    queryFn: ({ signal }) => get<Budget[]>('/credits/budgets', signal),
    refetchInterval: 10_000,
  })
  const [asked, setAsked] = useState<Asked | null>(null)
  const can = useCan()
  const canWrite = can('credits:write')
  const nameOf = useSubjectNames(budgets.data ?? [])
  const queries = useQueryClient()
  const close = () => setAsked(null)
  return (
    <section aria-label="Budgets" className="flex flex-col gap-2">
      <div className="flex items-center gap-2">
        <h2 className="mr-auto text-14 font-semibold">Budgets</h2>
        {canWrite && (
          <Button size="small" icon={Plus} onClick={() => setAsked({ verb: 'new' })}>
            New budget
          </Button>
        )}
      </div>
      {budgets.error !== null && <Problem error={budgets.error} onRetry={() => void budgets.refetch()} />}
      {budgets.data === undefined && budgets.error === null && <Skeleton lines={2} />}
      {budgets.data?.length === 0 && (
        <p className="text-muted">
          No budgets: only the balance limits what is spent. A budget stops or warns at a limit of a day, a
          month, a run or in all, for everybody or for one member, key, workflow or sheet.
        </p>
      )}
      {budgets.data !== undefined && budgets.data.length > 0 && (
        <Table
          label="Budgets"
          columns={columnsOf(nameOf, canWrite ? setAsked : null)}
          items={budgets.data}
          keyOf={({ budget_id }) => budget_id}
        />
      )}
      {(asked?.verb === 'new' || asked?.verb === 'edit') && (
        <BudgetDialog
          budget={asked.verb === 'edit' ? asked.budget : null}
          onMade={(secret) => setAsked(secret === null ? null : { verb: 'show', secret })}
          onClose={close}
        />
      )}
      {asked?.verb === 'delete' && (
        <ConfirmDialog
          title={`Delete ${asked.budget.name}`}
          description={
            asked.budget.mode === 'stop' ? 'It no longer stops anything.' : 'Nobody is warned any more.'
          }
          verb="Delete"
          run={async () => {
            await request('DELETE', `/credits/budgets/${asked.budget.budget_id}`)
            await queries.invalidateQueries({ queryKey: ['budgets'] })
          }}
          onClose={close}
        />
      )}
      {asked?.verb === 'show' && <SigningSecret secret={asked.secret} onClose={close} />}
    </section>
  )
}

/** The only time that it can be read. */
function SigningSecret({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      title="Budget created"
      description="Alerts are signed with this secret. Copy it now: it is not shown again."
      closeLabel="Done"
      footer={<CopyButton label="Copy secret" text={() => secret} />}
    >
      <TextField label="Signing secret" value={secret} onFocus={({ target }) => target.select()} />
    </Dialog>
  )
}

/** Workflows and keys by their names, asked for only where a budget has one. */
function useSubjectNames(budgets: readonly Budget[]): (budget: Budget) => string {
  const has = (scopes: readonly string[]) => budgets.some(({ scope }) => scopes.includes(scope))
  const workflows = useQuery({ ...workflowsQuery, enabled: has(['workflow', 'sheet']) })
  const keys = useQuery({
    queryKey: ['keys'],
    queryFn: ({ signal }) => get<z.infer<typeof ListedKey>[]>('/internal/keys', signal),
    enabled: has(['key']),
  })
  return ({ scope, subject }) => {
    if (subject === null) return 'The organisation'
    if (scope === 'member') return subject
    if (scope === 'key') {
      return `Key ...${keys.data?.find(({ key_id }) => key_id === subject)?.last4 ?? subject.slice(-4)}`
    }
    const name = workflows.data?.find(({ workflow_id }) => workflow_id === subject)?.name ?? subject
    return scope === 'sheet' ? `${name}, sheet` : name
  }
}

function columnsOf(
  nameOf: (budget: Budget) => string,
  ask: ((asked: Asked) => void) | null,
): readonly Column<Budget>[] {
  return [
    {
      name: 'Name',
      cell: (budget) => (
        <>
          <span className="font-medium break-words">{budget.name}</span>
          <span className="block text-12 break-words text-muted">
            {nameOf(budget)}
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
      name: 'What to do',
      hideName: true,
      align: 'right',
      cell: (budget) =>
        ask !== null && (
          <RowActions>
            <RowAction verb="Edit" of={budget.name} onClick={() => ask({ verb: 'edit', budget })} />
            <RowAction verb="Delete" of={budget.name} onClick={() => ask({ verb: 'delete', budget })} />
          </RowActions>
        ),
    },
  ]
}

function Spent({ budget: { name, spent, held, limit, period } }: { budget: Budget }) {
  if (period === 'run') return <>{`at most ${figure(limit)} a run`}</>
  return (
    <div className="flex min-w-28 flex-col gap-1">
      <span className="tabular-nums">
        {`${figure(spent)} of ${figure(limit)}`}
        {held > 0 && <span className="text-muted">{`, ${figure(held)} held`}</span>}
      </span>
      <ProgressBar label={`Spent of ${name}`} value={spent} max={limit} isFull={spent >= limit} />
    </div>
  )
}
