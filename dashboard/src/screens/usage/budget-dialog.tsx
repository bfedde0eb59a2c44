import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/calls.ts'
import { fetchData, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { workflowsQuery } from '../../api/workflows.ts'
import { type Choice, Combobox } from '../../ui/combobox.tsx'
import { CopyAsCurl } from '../../ui/copy-button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { problemWithin } from '../../ui/field-problem.ts'
import { TextField } from '../../ui/text-field.tsx'
import {
  type Budget,
  buildBody,
  type Chosen,
  MODES,
  NEW_BUDGET,
  NOTHING_CHOSEN,
  PERIODS,
  printChosen,
  type Scope,
  SCOPES,
  TRIGGERS,
  type TypedBudget,
  toTyped,
} from './budget-fields.ts'

const FIELDS = [
  'scope',
  'subject',
  'period',
  'trigger',
  'name',
  'limit',
  'thresholds',
  'emails',
  'webhook_url',
]

/** The dialog that creates a budget or changes an existing one. */
export function BudgetDialog({
  budget,
  onMade,
  onClose,
}: {
  budget: Budget | null
  /** Receives the secret that signs webhook deliveries, or null if there is no webhook or no new budget. */
  onMade: (secret: string | null) => void
  onClose: () => void
}) {
  const [typed, setTyped] = useState<TypedBudget>(budget === null ? NEW_BUDGET : toTyped(budget))
  const [chosen, setChosen] = useState<Chosen>(NOTHING_CHOSEN)
  const queries = useQueryClient()
  const create = call('POST /credits/budgets', { body: { ...printChosen(chosen), ...buildBody(typed) } })
  const change =
    budget === null
      ? null
      : call('PATCH /credits/budgets/:budget_id', {
          params: { budget_id: budget.budget_id },
          body: buildBody(typed),
        })
  const save = useMutation({
    mutationFn: async () => {
      if (change === null) return (await fetchData(create)).webhook_secret
      await send(change)
      return null
    },
    onSuccess: async (secret) => {
      await queries.invalidateQueries({ queryKey: keys.budgets })
      onMade(typed.webhook.trim() === '' ? null : secret)
    },
  })
  const problem = (field: string) => problemWithin(save.error, field)
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={budget === null ? 'New budget' : `Edit ${budget.name}`}
      submit={{
        label: budget === null ? 'Create' : 'Save',
        onSubmit: () => save.mutate(),
        busy: save.isPending,
      }}
      footer={<CopyAsCurl call={change ?? create} />}
      error={FIELDS.some((field) => problem(field) !== undefined) ? null : save.error}
    >
      {budget === null && (
        <ChosenFields
          chosen={chosen}
          onChange={(change) => setChosen({ ...chosen, ...change })}
          problem={problem}
        />
      )}
      <TypedFields typed={typed} onChange={(change) => setTyped({ ...typed, ...change })} problem={problem} />
    </Dialog>
  )
}

type FindProblem = (field: string) => string | undefined

/** The fields that cannot be changed after a budget is created: what it is for, and what it counts. */
function ChosenFields({
  chosen: { scope, subject, period, trigger },
  onChange,
  problem,
}: {
  chosen: Chosen
  onChange: (change: Partial<Chosen>) => void
  problem: FindProblem
}) {
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Combobox
        label="Budget for"
        value={scope}
        choices={SCOPES}
        onChange={(next) => onChange({ scope: next, subject: '' })}
        problem={problem('scope')}
      />
      {scope !== 'organisation' && (
        <Subject
          scope={scope}
          value={subject}
          onChange={(next) => onChange({ subject: next })}
          problem={problem('subject')}
        />
      )}
      <Combobox
        label="Counts"
        value={period}
        choices={PERIODS}
        onChange={(next) => onChange({ period: next })}
        problem={problem('period')}
      />
      <Combobox
        label="Started by"
        value={trigger}
        choices={TRIGGERS}
        onChange={(next) => onChange({ trigger: next })}
        problem={problem('trigger')}
      />
    </div>
  )
}

/** The fields that can be changed at any time. */
function TypedFields({
  typed,
  onChange,
  problem,
}: {
  typed: TypedBudget
  onChange: (change: Partial<TypedBudget>) => void
  problem: FindProblem
}) {
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <TextField
        label="Limit"
        type="number"
        min={0}
        step="any"
        value={typed.limit}
        onChange={(limit) => onChange({ limit })}
        problem={problem('limit')}
        hint="In credits"
      />
      <Combobox
        label="At the limit"
        value={typed.mode}
        choices={MODES}
        onChange={(mode) => onChange({ mode })}
        hint={
          typed.mode === 'stop'
            ? 'Work that would exceed the limit does not run.'
            : 'Only sends alerts. Nothing is stopped.'
        }
      />
      <TextField
        label="Name"
        value={typed.name}
        onChange={(name) => onChange({ name })}
        problem={problem('name')}
        placeholder="Default: a name from its scope"
      />
      <TextField
        label="Alerts at"
        value={typed.thresholds}
        onChange={(thresholds) => onChange({ thresholds })}
        problem={problem('thresholds')}
        hint="Percent of the limit, separated by commas"
      />
      <TextField
        label="Email alerts to"
        value={typed.emails}
        onChange={(emails) => onChange({ emails })}
        problem={problem('emails')}
        placeholder="The administrators"
        hint="Email addresses, separated by commas"
      />
      <TextField
        label="Webhook URL"
        value={typed.webhook}
        onChange={(webhook) => onChange({ webhook })}
        problem={problem('webhook_url')}
        placeholder="https://"
        hint="Alerts are posted to this URL and signed"
      />
    </div>
  )
}

/** The field for the member, key, workflow or sheet that the budget is for. */
function Subject({
  scope,
  value,
  onChange,
  problem,
}: {
  scope: Exclude<Scope, 'organisation'>
  value: string
  onChange: (value: string) => void
  problem: string | undefined
}) {
  const user = useQuery({
    queryKey: keys.user,
    queryFn: ({ signal }) => fetchData(call('GET /user'), { signal }),
    enabled: scope === 'member',
  })
  const apiKeys = useQuery({
    queryKey: keys.apiKeys,
    queryFn: ({ signal }) => fetchData(call('GET /internal/keys'), { signal }),
    enabled: scope === 'key',
  })
  const workflows = useQuery({ ...workflowsQuery, enabled: scope === 'workflow' || scope === 'sheet' })
  const choices: Record<typeof scope, readonly (string | Choice)[]> = {
    member: user.data?.org_members.emails ?? [],
    key: (apiKeys.data ?? []).map(({ key_id, last4, email }) => ({
      value: key_id,
      label: `...${last4}`,
      note: email ?? '',
    })),
    workflow: (workflows.data ?? []).map(({ workflow_id, name }) => ({ value: workflow_id, label: name })),
    // A main sheet has the id of its workflow. For another sheet, its own id is typed.
    sheet: (workflows.data ?? []).map(({ workflow_id, name }) => ({
      value: workflow_id,
      label: name,
      note: 'main sheet',
    })),
  }
  const label = { member: 'Member', key: 'Key', workflow: 'Workflow', sheet: 'Sheet' }[scope]
  return (
    <Combobox
      label={label}
      value={value}
      choices={choices[scope]}
      onChange={onChange}
      problem={problem}
      free={scope === 'sheet'}
      {...(scope === 'sheet' ? { hint: 'Choose a main sheet or enter the id of another sheet' } : {})}
    />
  )
}
