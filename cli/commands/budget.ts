import type { Command } from 'commander'
import { z } from 'zod'
import {
  type Budget,
  BUDGET_MODES,
  BUDGET_PERIODS,
  BUDGET_SCOPES,
  CreateBudgetBody,
  SPENDING_TRIGGERS,
  UpdateBudgetBody,
} from '#contract/budgets.ts'
import { invalid, notFound } from '#server/lib/errors.ts'
import { changeBudget, createBudget, removeBudget, viewBudget } from '#server/money/budgets.ts'
import { findBudget, listBudgets } from '#server/money/store/budgets.ts'
import { MILLIS } from '#server/money/store/credits.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { Amount, examples, List, Org } from '../flags.ts'
import { type CommandOutput, formatTable } from '../output.ts'
import { inSession, resolveOrganisation } from '../session.ts'

const ORG = ['--org <org_id>', 'organisation; required if there are several'] as const

const Thresholds = List.refine(
  (items) => items.every((item) => /^\d{1,4}$/.test(item)),
  'must be percents such as 50,80,100',
).transform((items) => items.map(Number))

const SetFlags = z.strictObject({
  org: Org,
  scope: z.enum(BUDGET_SCOPES),
  subject: z.string().trim().min(1, 'must not be empty').optional(),
  trigger: z.enum(SPENDING_TRIGGERS).optional(),
  period: z.enum(BUDGET_PERIODS),
  limit: Amount,
  name: z.string().optional(),
  mode: z.enum(BUDGET_MODES).optional(),
  thresholds: Thresholds.optional(),
  emails: List.optional(),
  webhookUrl: z.string().optional(),
})

export function define(budget: Command): void {
  budget.addHelpText(
    'after',
    examples(
      'loam budget set --scope organisation --period month --limit 5000',
      'loam budget list',
      'loam budget remove 0198f3ac-8c9d-7e0f-8a1b-2c3d4e5f6a7b',
    ),
  )
  defineSet(budget)
  defineList(budget)
  defineRemove(budget)
}

function defineSet(budget: Command): void {
  budget
    .command('set')
    .description(
      'Limit the credits spent in a period; changes the budget with the same scope, subject, trigger and period',
    )
    .requiredOption('--scope <scope>', BUDGET_SCOPES.join(', '))
    .option('--subject <subject>', "a member's email address, or the id of a key, workflow or sheet")
    .option('--trigger <trigger>', `only runs with this trigger: ${SPENDING_TRIGGERS.join(', ')}`)
    .requiredOption('--period <period>', BUDGET_PERIODS.join(', '))
    .requiredOption('--limit <credits>', 'number of credits, up to 3 decimals')
    .option('--name <name>', 'name of the budget in alerts')
    .option(
      '--mode <mode>',
      'stop (default) refuses work that would exceed the limit, warn only sends alerts',
    )
    .option('--thresholds <percents>', 'percentages at which to alert (default 50,80,100)')
    .option('--emails <addresses>', 'recipients of alerts (default the administrators)')
    .option('--webhook-url <url>', 'URL that receives signed alerts')
    .option(...ORG)
    .addHelpText(
      'after',
      examples(
        'loam budget set --scope member --subject ann@example.com --period day --limit 100 --mode warn',
      ),
    )
    .action(
      inSession(SetFlags, async ({ db, sealer }, { org, scope, subject, trigger, period, ...fields }) => {
        const { org_id } = await resolveOrganisation(db, org === undefined ? {} : { org })
        const { limit, webhookUrl, ...rest } = fields
        const given = {
          ...rest,
          limit: limit / MILLIS,
          ...(webhookUrl === undefined ? {} : { webhook_url: webhookUrl }),
        }
        const known = (await listBudgets(db, org_id, null)).find(
          (one) =>
            one.scope === scope &&
            one.period === period &&
            one.subject === (subject?.toLowerCase() ?? null) &&
            one.trigger === (trigger ?? null),
        )
        if (known !== undefined)
          return formatBudget(await changeBudget(db, OPERATOR, known, read(UpdateBudgetBody, given)))
        const body = read(CreateBudgetBody, { ...given, scope, subject, trigger, period })
        return formatBudget(await createBudget(db, { actor: OPERATOR, orgId: org_id }, sealer, body))
      }),
    )
}

function defineList(budget: Command): void {
  budget
    .command('list')
    .description('List budgets with the amounts of their current periods')
    .option(...ORG)
    .addHelpText('after', examples('loam budget list', 'loam budget list --json'))
    .action(
      inSession(z.strictObject({ org: Org }), async ({ db }, flags) => {
        const { org_id } = await resolveOrganisation(db, flags)
        const budgets: z.infer<typeof Budget>[] = []
        for (const one of await listBudgets(db, org_id, null)) budgets.push(await viewBudget(db, one))
        return { data: budgets, text: () => formatBudgets(budgets) }
      }),
    )
}

function defineRemove(budget: Command): void {
  budget
    .command('remove')
    .argument('<budget_id>', 'as loam budget list shows it')
    .description('Remove a budget and its limit')
    .option(...ORG)
    .addHelpText('after', examples('loam budget remove 0198f3ac-8c9d-7e0f-8a1b-2c3d4e5f6a7b'))
    .action(
      inSession(
        z.strictObject({ org: Org, budget_id: z.guid('must be the id of a budget').toLowerCase() }),
        async ({ db }, { budget_id, ...flags }) => {
          const { org_id } = await resolveOrganisation(db, flags)
          const found = await findBudget(db, org_id, budget_id)
          if (found === undefined) throw notFound(`Budget ${budget_id}`)
          await removeBudget(db, OPERATOR, found)
          return { data: { budget_id, deleted: true }, text: () => `The budget "${found.name}" is removed.` }
        },
      ),
    )
}

function read<Body>(schema: z.ZodType<Body>, given: unknown): Body {
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw invalid(String(issue?.path[0] ?? 'budget').replaceAll('_', '-'), issue?.message ?? 'is not valid')
}

function formatBudget(budget: z.infer<typeof Budget> & { webhook_secret?: string }): CommandOutput {
  const secret =
    budget.webhook_secret === undefined || budget.webhook_url === null
      ? ''
      : `\nDeliveries are signed with ${budget.webhook_secret}, which is shown only once.`
  return { data: budget, text: () => `${formatBudgets([budget])}${secret}` }
}

function formatBudgets(budgets: readonly z.infer<typeof Budget>[]): string {
  return formatTable(
    ['BUDGET', 'NAME', 'PERIOD', 'MODE', 'LIMIT', 'SPENT', 'HELD', 'REMAINING'],
    budgets.map(({ budget_id, name, period, mode, limit, spent, held, remaining }) => [
      budget_id,
      name,
      period,
      mode,
      String(limit),
      String(spent),
      String(held),
      String(remaining),
    ]),
    'No budgets.',
  )
}
