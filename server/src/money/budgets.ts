import { randomBytes } from 'node:crypto'
import type { z } from 'zod'
import {
  type Budget,
  type CreateBudgetBody,
  type CreatedBudget,
  MAX_BUDGETS,
  type SpendingTrigger,
  type UpdateBudgetBody,
} from '#contract/budgets.ts'
import { type Db, inTransaction } from '../database/connection/db.ts'
import { AppError, notFound } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { budgetBinding } from '../lib/security/bindings.ts'
import type { Sealer } from '../lib/security/secrets.ts'
import { type Actor, recordAudit } from '../organisation/store/audit.ts'
import type { SheetRecord } from '../sheets/store/sheets.ts'
import {
  type BudgetChange,
  type BudgetRecord,
  countBudgets,
  deleteBudget,
  hasSubject,
  insertBudget,
  listAdminEmails,
  listBudgets,
  readPeriod,
  updateBudget,
} from './store/budgets.ts'
import { MILLIS } from './store/credits.ts'
import { getBudgetLimit, readBudgetSpending } from './store/limits/budget-limits.ts'

const SECRET_BYTES = 24
const SUBJECTS = {
  organisation: 'Organisation',
  member: 'Member',
  key: 'Key',
  workflow: 'Workflow',
  sheet: 'Sheet',
}

/**
 * Creates a budget. It counts from the beginning of its period, so alerts for thresholds that are already passed are sent at
 * once.
 */
export async function createBudget(
  db: Db,
  { actor, orgId }: { actor: Actor; orgId: string },
  sealer: Sealer,
  body: z.output<typeof CreateBudgetBody>,
): Promise<z.infer<typeof CreatedBudget>> {
  const { scope, period, trigger = null } = body
  const subject = body.subject?.toLowerCase() ?? null
  if (subject !== null && !(await hasSubject(db, orgId, scope, subject)))
    throw notFound(`${SUBJECTS[scope]} ${subject}`)
  const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
  const budget_id = newId()
  const budget = await inTransaction(db, async (trx) => {
    if ((await countBudgets(trx, orgId)) >= MAX_BUDGETS) {
      throw new AppError(
        'Conflict',
        `Your organisation has ${MAX_BUDGETS} budgets, which is the limit; delete some budgets, or change one of them`,
      )
    }
    const made = await insertBudget(trx, {
      org_id: orgId,
      budget_id,
      name: body.name ?? describeBudget(scope, subject, period),
      scope,
      subject,
      trigger,
      period,
      limit_millis: Math.round(body.limit * MILLIS),
      mode: body.mode,
      thresholds: body.thresholds.toSorted((one, other) => one - other),
      emails: [...new Set(body.emails ?? (await listAdminEmails(trx, orgId)))],
      webhook_url: body.webhook_url ?? null,
      secret_sealed: sealer.seal(secret, budgetBinding({ org_id: orgId, budget_id })),
    })
    if (made === undefined) {
      const owner = subject === null ? scope : `${scope} ${subject}`
      throw new AppError(
        'Conflict',
        `A budget of ${owner} by ${period}${trigger === null ? '' : ` for ${trigger}`} already exists; change that budget`,
      )
    }
    await recordAudit(trx, orgId, actor, {
      action: 'budget.created',
      target: budget_id,
      details: auditDetails(made),
    })
    await getBudgetLimit(trx, orgId, budget_id)
    return made
  })
  return { ...(await viewBudget(db, budget)), webhook_secret: secret }
}

const describeBudget = (scope: string, subject: string | null, period: string): string =>
  `${subject === null ? scope : `${scope} ${subject}`}, ${period === 'total' ? 'in all' : `each ${period}`}`

export async function changeBudget(
  db: Db,
  actor: Actor,
  before: BudgetRecord,
  { limit, thresholds, emails, ...rest }: z.output<typeof UpdateBudgetBody>,
): Promise<z.infer<typeof Budget>> {
  const change: BudgetChange = {
    ...rest,
    ...(limit === undefined ? {} : { limit_millis: Math.round(limit * MILLIS) }),
    ...(thresholds === undefined ? {} : { thresholds: thresholds.toSorted((one, other) => one - other) }),
    ...(emails === undefined ? {} : { emails: [...new Set(emails)] }),
  }
  const { org_id, budget_id } = before
  const changed = await inTransaction(db, async (trx) => {
    const after = await updateBudget(trx, org_id, budget_id, change)
    if (after === undefined) throw notFound('Budget')
    await recordAudit(trx, org_id, actor, {
      action: 'budget.changed',
      target: budget_id,
      details: auditDetails(after),
    })
    return after
  })
  return viewBudget(db, changed)
}

export async function removeBudget(
  db: Db,
  actor: Actor,
  { org_id, budget_id, name }: BudgetRecord,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    if (!(await deleteBudget(trx, org_id, budget_id))) throw notFound('Budget')
    await recordAudit(trx, org_id, actor, { action: 'budget.deleted', target: budget_id, details: { name } })
  })
}

/** The person, key, sheet and trigger of planned spending. */
export type PlannedSpending = {
  orgId: string
  email: string | null
  keyId: string | null
  sheet: Pick<SheetRecord, 'workflow_id' | 'sheet_id'> | null
  trigger: SpendingTrigger
}

/** Lists the credits left in the budgets that would stop the spending. It writes nothing. */
export async function listSpendable(
  db: Db,
  { orgId, email, keyId, sheet, trigger }: PlannedSpending,
): Promise<{ budget_id: string; name: string; remaining: number }[]> {
  const subjects = {
    organisation: null,
    member: email,
    key: keyId,
    workflow: sheet?.workflow_id,
    sheet: sheet?.sheet_id,
  }
  const found: { budget_id: string; name: string; remaining: number }[] = []
  for (const budget of await listBudgets(db, orgId, null)) {
    const { budget_id, name, mode, scope, subject, limit_millis, period } = budget
    const applies = subject === subjects[scope] && (budget.trigger === null || budget.trigger === trigger)
    if (mode !== 'stop' || !applies || (period === 'run' && sheet === null)) continue
    const { spent, held } = await readBudgetSpending(db, orgId, budget_id)
    found.push({ budget_id, name, remaining: Math.max(0, limit_millis - spent - held) / MILLIS })
  }
  return found
}

const auditDetails = ({ name, scope, subject, period, mode, limit_millis }: BudgetRecord) => ({
  name,
  scope,
  subject,
  period,
  mode,
  limit: limit_millis / MILLIS,
})

/** Returns a budget with the spending of its current period. */
export async function viewBudget(db: Db, budget: BudgetRecord): Promise<z.infer<typeof Budget>> {
  const counted = await getBudgetLimit(db, budget.org_id, budget.budget_id)
  const { period_start, period_end, alerts } = await readPeriod(db, budget)
  const [spent, held] = [counted?.spent ?? 0, counted?.held ?? 0]
  const { budget_id, name, scope, subject, trigger, period, mode, thresholds, emails, webhook_url } = budget
  return {
    budget_id,
    name,
    scope,
    subject,
    trigger,
    period,
    limit: budget.limit_millis / MILLIS,
    mode,
    thresholds,
    emails,
    webhook_url,
    spent: spent / MILLIS,
    held: held / MILLIS,
    remaining: Math.max(0, budget.limit_millis - spent - held) / MILLIS,
    period_start: period_start?.toISOString() ?? null,
    period_end: period_end?.toISOString() ?? null,
    alerts: alerts.map(({ threshold, at }) => ({ threshold, at: at.toISOString() })),
    created_at: budget.created_at.toISOString(),
  }
}
