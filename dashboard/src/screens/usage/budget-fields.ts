import type { z } from 'zod'
import type { Budget as BudgetSchema, CreateBudgetBody, UpdateBudgetBody } from '#contract/budgets.ts'

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
  { value: 'total', label: 'In total' },
]

export const MODES: readonly { value: Budget['mode']; label: string }[] = [
  { value: 'stop', label: 'Stop' },
  { value: 'warn', label: 'Only warn' },
]

export const ANY_TRIGGER = ''
/** A trigger, or `ANY_TRIGGER`. */
export type Trigger = NonNullable<Budget['trigger']> | typeof ANY_TRIGGER
export const TRIGGERS: readonly { value: Trigger; label: string }[] = [
  { value: ANY_TRIGGER, label: 'Anything' },
  { value: 'api', label: 'Runs started by people or the API' },
  { value: 'shortcut', label: 'Shortcuts' },
  { value: 'auto_run', label: 'Auto-run' },
  { value: 'schedule', label: 'Schedules' },
  { value: 'webhook', label: 'Webhooks' },
  { value: 'source', label: 'Sources' },
  { value: 'segment', label: 'Segments' },
  { value: 'send_to_sheet', label: 'Rows sent to a sheet' },
  { value: 'agent', label: 'The agent' },
  { value: 'test', label: 'Tests of an action' },
]

/** The fields of a budget that are chosen when it is created. */
export type Chosen = { scope: Scope; subject: string; period: Budget['period']; trigger: Trigger }

export const NOTHING_CHOSEN: Chosen = {
  scope: 'organisation',
  subject: '',
  period: 'month',
  trigger: ANY_TRIGGER,
}

export const printChosen = ({ scope, subject, period, trigger }: Chosen) => ({
  scope,
  subject: scope === 'organisation' ? null : subject,
  period,
  ...(trigger === ANY_TRIGGER ? {} : { trigger }),
})

/** The editable fields of a budget, as typed. */
export type TypedBudget = {
  name: string
  limit: string
  mode: Budget['mode']
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

export const toTyped = (budget: Budget): TypedBudget => ({
  name: budget.name,
  limit: String(budget.limit),
  mode: budget.mode,
  thresholds: budget.thresholds.join(', '),
  emails: budget.emails.join(', '),
  webhook: budget.webhook_url ?? '',
})

const splitList = (text: string) => text.split(/[\s,;]+/).filter((part) => part !== '')
/** Returns the text as a number. Other text is returned unchanged, so that the server reports the error. */
const toNumber = (text: string): number | string =>
  text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text

type Body = Pick<z.input<typeof CreateBudgetBody>, 'limit'> & z.input<typeof UpdateBudgetBody>

/** Returns the body as typed. A limit may be missing or no number: the type says what the server accepts, and it reports the rest. */
export function buildBody({ name, limit, mode, thresholds, emails, webhook }: TypedBudget): Body {
  const body: { [Name in keyof Body]?: unknown } = {
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    ...(limit.trim() === '' ? {} : { limit: toNumber(limit) }),
    mode,
    thresholds: splitList(thresholds).map((part) => toNumber(part.replace(/%$/, ''))),
    ...(splitList(emails).length === 0 ? {} : { emails: splitList(emails) }),
    webhook_url: webhook.trim() === '' ? null : webhook.trim(),
  }
  return body as Body
}
