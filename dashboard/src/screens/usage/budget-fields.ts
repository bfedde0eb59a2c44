import type { z } from 'zod'
import type { Budget as BudgetSchema } from '#contract/budgets.ts'

export type Budget = z.infer<typeof BudgetSchema>
export type Scope = Budget['scope']

export const SCOPES: readonly { value: Scope; label: string }[] = [
  { value: 'organisation', label: 'The organisation' },
  { value: 'member', label: 'A member' },
  { value: 'key', label: 'An API key' },
  { value: 'workflow', label: 'A workflow' },
  { value: 'sheet', label: 'A sheet' },
]

export const PERIODS: readonly { value: Budget['period']; label: string }[] = [
  { value: 'month', label: 'Each month' },
  { value: 'day', label: 'Each day' },
  { value: 'run', label: 'Each run' },
  { value: 'total', label: 'In all' },
]

export const MODES: readonly { value: Budget['mode']; label: string }[] = [
  { value: 'stop', label: 'Stop' },
  { value: 'warn', label: 'Only warn' },
]

export const ANY_TRIGGER = ''
export const TRIGGERS: readonly { value: NonNullable<Budget['trigger']> | ''; label: string }[] = [
  { value: ANY_TRIGGER, label: 'Anything' },
  { value: 'api', label: 'Runs that somebody starts' },
  { value: 'shortcut', label: 'Shortcuts' },
  { value: 'auto_run', label: 'Auto-run' },
  { value: 'schedule', label: 'Schedules' },
  { value: 'webhook', label: 'Webhooks' },
  { value: 'source', label: 'Sources' },
  { value: 'segment', label: 'Segments' },
  { value: 'send_to_sheet', label: 'Rows sent to a sheet' },
  { value: 'agent', label: 'The agent' },
]

/** What can be changed of a budget, as it is typed. */
export type TypedBudget = {
  name: string
  limit: string
  mode: string
  thresholds: string
  emails: string
  webhook: string
}

export const NEW_BUDGET: TypedBudget = {
  name: '',
  limit: '',
  mode: 'stop',
  thresholds: '50, 80, 100',
  emails: '',
  webhook: '',
}

export const typedOf = (budget: Budget): TypedBudget => ({
  name: budget.name,
  limit: String(budget.limit),
  mode: budget.mode,
  thresholds: budget.thresholds.join(', '),
  emails: budget.emails.join(', '),
  webhook: budget.webhook_url ?? '',
})

const listOf = (text: string) => text.split(/[\s,;]+/).filter((part) => part !== '')
/** What is no number goes as it is: the server says what is wrong with it. */
const numberOf = (text: string): number | string =>
  text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text

export function bodyOf({ name, limit, mode, thresholds, emails, webhook }: TypedBudget) {
  return {
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    ...(limit.trim() === '' ? {} : { limit: numberOf(limit) }),
    mode,
    thresholds: listOf(thresholds).map((part) => numberOf(part.replace(/%$/, ''))),
    ...(listOf(emails).length === 0 ? {} : { emails: listOf(emails) }),
    webhook_url: webhook.trim() === '' ? null : webhook.trim(),
  }
}
