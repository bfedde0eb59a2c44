import type { Command } from 'commander'
import { z } from 'zod'
import { type Usage, USAGE_GROUPS, UsageQuery } from '#contract/usage.ts'
import { inTransaction } from '#server/database/connection/db.ts'
import { invalid, notFound } from '#server/lib/errors.ts'
import { plural } from '#server/lib/plural.ts'
import { getBalance, grantCredits, MILLIS, refundCharges } from '#server/money/store/credits.ts'
import { listLedger } from '#server/money/store/ledger.ts'
import { viewUsage } from '#server/money/usage.ts'
import { OPERATOR, recordAudit } from '#server/organisation/store/audit.ts'
import { Amount, examples, Limit, MAX_MILLIS, Org } from '../flags.ts'
import { type CommandOutput, formatTable, formatTime } from '../output.ts'
import { inSession, type Organisation, resolveOrganisation } from '../session.ts'

const GrantFlags = z.strictObject({
  org: Org,
  amount: Amount.refine((millis) => millis > 0, 'must be more than 0'),
  reason: z.string().trim().min(1, 'must not be empty').default('granted by the operator'),
})

const RefundFlags = z
  .strictObject({
    org: Org,
    run: z.guid('must be the id of a run').optional(),
    entry: z.guid('must be the id of an entry of the ledger').optional(),
    reason: z.string().trim().min(1, 'must not be empty'),
  })
  .refine(({ run, entry }) => (run === undefined) !== (entry === undefined), {
    path: ['run'],
    error: 'give either --run or --entry',
  })

const LedgerFlags = z.strictObject({ org: Org, limit: Limit(50, 10_000) })

const UsageFlags = z
  .strictObject({
    org: Org,
    groupBy: UsageQuery.shape.group_by,
    from: UsageQuery.shape.from,
    to: UsageQuery.shape.to,
    workflow: UsageQuery.shape.workflow_id,
    action: UsageQuery.shape.action_id,
    provider: UsageQuery.shape.provider,
    member: UsageQuery.shape.member,
    key: UsageQuery.shape.key_id,
    trigger: UsageQuery.shape.trigger,
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
    path: ['from'],
    error: 'must not be after --to',
  })

const ORG = ['--org <org_id>', 'organisation; required if there are several'] as const

export function define(credits: Command): void {
  credits.addHelpText('after', examples('loam credits balance', 'loam credits grant --amount 5000'))
  defineGrant(credits)
  defineRefund(credits)
  defineBalance(credits)
  defineUsage(credits)
  defineLedger(credits)
}

function defineGrant(credits: Command): void {
  credits
    .command('grant')
    .description('Add credits to an organisation')
    .requiredOption('--amount <credits>', 'number of credits, up to 3 decimals')
    .option('--reason <text>', 'stored in the ledger')
    .option(...ORG)
    .addHelpText('after', examples('loam credits grant --amount 5000 --reason "March invoice"'))
    .action(
      inSession(GrantFlags, async ({ db }, flags) => {
        const organisation = await resolveOrganisation(db, flags)
        const { org_id } = organisation
        const balance = await inTransaction(db, async (trx) => {
          const after = await grantCredits(trx, org_id, { amountMillis: flags.amount, reason: flags.reason })
          if (after > MAX_MILLIS) {
            throw invalid('amount', `the balance would exceed ${MAX_MILLIS / MILLIS} credits`)
          }
          await recordAudit(trx, org_id, OPERATOR, {
            action: 'credits.granted',
            target: org_id,
            details: { amount: flags.amount / MILLIS, reason: flags.reason },
          })
          return after
        })
        return formatBalance(organisation, balance)
      }),
    )
}

function defineRefund(credits: Command): void {
  credits
    .command('refund')
    .description('Refund the charges of a run, or one charge of the ledger; each charge only once')
    .option('--run <run_id>', 'all charges of this run')
    .option('--entry <entry_id>', 'only this charge')
    .requiredOption('--reason <text>', 'stored in the ledger')
    .option(...ORG)
    .addHelpText(
      'after',
      examples('loam credits refund --run 0198f3a6-2c3d-7e4f-8a5b-6c7d8e9f0a1b --reason "Wrong column"'),
    )
    .action(
      inSession(RefundFlags, async ({ db }, { run, entry, reason, ...flags }) => {
        const { org_id } = await resolveOrganisation(db, flags)
        const which = entry === undefined ? { runId: run ?? '' } : { entryId: entry }
        const refund = await inTransaction(db, async (trx) => {
          const given = await refundCharges(trx, org_id, which, reason)
          if (given.entries === 0)
            throw notFound(`A charge of this ${entry === undefined ? 'run' : 'entry'} that was not refunded`)
          await recordAudit(trx, org_id, OPERATOR, {
            action: 'credits.refunded',
            target: org_id,
            details: { ...which, entries: given.entries, amount: given.amountMillis / MILLIS, reason },
          })
          return given
        })
        const data = {
          entries: refund.entries,
          amount: refund.amountMillis / MILLIS,
          balance: refund.balanceMillis / MILLIS,
        }
        return {
          data,
          text: () =>
            `${plural(data.amount, 'credit')} of ${plural(data.entries, 'charge')} refunded; the balance is ${data.balance}.`,
        }
      }),
    )
}

function defineBalance(credits: Command): void {
  credits
    .command('balance')
    .description('Show the credits of an organisation')
    .option(...ORG)
    .addHelpText('after', examples('loam credits balance', 'loam credits balance --json'))
    .action(
      inSession(z.strictObject({ org: Org }), async ({ db }, flags) => {
        const organisation = await resolveOrganisation(db, flags)
        const balance = await getBalance(db, organisation.org_id)
        if (balance === undefined) throw notFound(`Organisation ${organisation.org_id}`)
        return formatBalance(organisation, balance)
      }),
    )
}

function defineUsage(credits: Command): void {
  credits
    .command('usage')
    .description('Show credits spent and saved, summed by day')
    .option('--group-by <groups>', `up to 3 of ${USAGE_GROUPS.join(', ')}, separated by commas (default day)`)
    .option('--from <day>', 'the first day, UTC (default 30 days up to the last)')
    .option('--to <day>', 'the last day, UTC (default today)')
    .option('--workflow <workflow_id>', 'only this workflow')
    .option('--action <action_id>', 'only this action of the catalogue')
    .option('--provider <name>', 'only this provider')
    .option('--member <email>', 'only runs that this member started')
    .option('--key <key_id>', 'only runs that this key started')
    .option('--trigger <trigger>', 'only runs with this trigger: api, schedule, webhook')
    .option(...ORG)
    .addHelpText(
      'after',
      examples(
        'loam credits usage --group-by month,workflow',
        'loam credits usage --group-by provider --json',
      ),
    )
    .action(
      inSession(UsageFlags, async ({ db }, { groupBy, workflow, action, key, ...flags }) => {
        const { org_id } = await resolveOrganisation(db, flags)
        const asked = { ...flags, group_by: groupBy, workflow_id: workflow, action_id: action, key_id: key }
        const usage = await viewUsage(db, org_id, WHOLE_REACH, asked)
        return { data: usage, text: () => formatUsage(usage) }
      }),
    )
}

function defineLedger(credits: Command): void {
  credits
    .command('ledger')
    .description('List credits granted and spent, newest first')
    .option('--limit <number>', 'number of entries (default 50)')
    .option(...ORG)
    .addHelpText('after', examples('loam credits ledger', 'loam credits ledger --limit 500 --json'))
    .action(
      inSession(LedgerFlags, async ({ db }, flags) => {
        const { org_id } = await resolveOrganisation(db, flags)
        const stored = await listLedger(db, org_id, WHOLE_REACH, { ...NEWEST, limit: flags.limit })
        const entries = stored.map(({ at, amount_millis, balance_millis, reason, details }) => ({
          at,
          amount: amount_millis / MILLIS,
          balance: balance_millis / MILLIS,
          reason,
          details,
        }))
        return {
          data: entries,
          text: () =>
            formatTable(
              ['AT', 'AMOUNT', 'BALANCE', 'REASON', 'DETAILS'],
              entries.map(({ at, amount, balance, reason, details }) => [
                formatTime(at),
                String(amount),
                String(balance),
                reason,
                Object.entries(details)
                  .map(([name, value]) => `${name}=${String(value)}`)
                  .join(' '),
              ]),
              'No entries.',
            ),
        }
      }),
    )
}

const WHOLE_REACH = { member: null, workflows: null }
const NEWEST = { from: null, before: null, type: null, runId: null, workflowId: null, after: null }

function formatUsage({ rows, totals, from, to }: z.infer<typeof Usage>): string {
  const columns = Object.keys(rows[0] ?? totals)
  const cellsOf = (row: (typeof rows)[number]) => {
    const byName = new Map<string, string | number | null | undefined>(Object.entries(row))
    return columns.map((name) => String(byName.get(name) ?? ''))
  }
  const all = rows.length > 1 ? [cellsOf(totals)] : []
  const table = formatTable(
    columns.map((name) => name.replaceAll('_', ' ').toUpperCase()),
    [...rows.map(cellsOf), ...all],
    'Nothing was used.',
  )
  return `${from} to ${to}\n\n${table}`
}

function formatBalance({ org_id, name }: Organisation, millis: number): CommandOutput {
  const balance = millis / MILLIS
  return { data: { org_id, balance }, text: () => `${name} has ${plural(balance, 'credit')}.` }
}
