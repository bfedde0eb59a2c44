import { type RawBuilder, sql } from 'kysely'

type Expression = RawBuilder<unknown>

/** Returns the start of the period of the budget `b` that contains a moment. */
export const periodStart = (
  at: Expression,
) => sql`case b.period when 'day' then date_trunc('day', ${at}, 'UTC')
  when 'month' then date_trunc('month', ${at}, 'UTC') end`

/** Returns the condition that the budget `b` counts a spender. */
export const matchesSpender = (
  spender: Record<'trigger' | 'member' | 'key' | 'workflow' | 'sheet', Expression>,
) =>
  sql`((b.trigger is null or b.trigger = ${spender.trigger}) and case b.scope when 'organisation' then true
    when 'member' then b.subject = ${spender.member} when 'key' then b.subject = ${spender.key}
    when 'workflow' then b.subject = ${spender.workflow} else b.subject = ${spender.sheet} end)`

/** The condition that the budget `b` counts the spender of the charge `c`. */
export const MATCHES_CHARGE = matchesSpender({
  trigger: sql`c.facts->>'trigger'`,
  member: sql`c.facts->>'member'`,
  key: sql`c.facts->>'key_id'`,
  workflow: sql`c.facts->>'workflow_id'`,
  sheet: sql`c.facts->>'sheet_id'`,
})

/**
 * The limits that count the charge `c` although nothing was held in them, because their budget is newer than the hold. A hold
 * stays in its period (M9): a budget that has it in another limit does not count it twice.
 */
export const LATE_LIMITS = sql`array(
  select late.purse_id from budgets b join purses late on late.org_id = b.org_id and late.budget_id = b.budget_id
  where b.org_id = c.org_id and ${MATCHES_CHARGE}
    and late.period_start is not distinct from ${periodStart(sql`c.at`)}
    and late.run_id is not distinct from case b.period when 'run' then (c.facts->>'run_id')::uuid end
    and not exists (select from purses held where held.org_id = c.org_id and held.budget_id = b.budget_id
      and held.purse_id = any(c.purse_ids)))`

/** The charges of the limit `p` that are not posted yet and count although nothing was held for them in this limit. */
export const LIMIT_LATE = sql`(case p.kind when 'budget' then (select coalesce(sum(c.millis), 0)::bigint from purse_charges c
  where c.org_id = p.org_id and p.purse_id = any(${LATE_LIMITS})) else 0 end)`
