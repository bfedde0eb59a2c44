import type { Command } from 'commander'
import { z } from 'zod'
import { Uuid } from '#contract/envelope.ts'
import { ONLY_ROWS } from '#contract/runs.ts'
import { invalid } from '#server/lib/errors.ts'
import { plural } from '#server/lib/plural.ts'
import { DEFAULT_TIMEZONE } from '#server/lib/timing/cron.ts'
import { MILLIS } from '#server/money/store/credits.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { setSchedule, unsetSchedule } from '#server/runs/schedules.ts'
import { listSchedules } from '#server/runs/store/schedules.ts'
import { findView } from '#server/sheets/store/views.ts'
import { CapAmount, examples, Org } from '../flags.ts'
import { formatTable, formatTime } from '../output.ts'
import { inSession, resolveOrganisation } from '../session.ts'
import { requireSheet, SHEET, SHEET_FLAGS, SHEET_ORG } from '../sheet.ts'

const SetFlags = z.strictObject({
  ...SHEET_FLAGS,
  cron: z.string(),
  timezone: z.string().trim().exactOptional(),
  only: z.enum(ONLY_ROWS).exactOptional(),
  view: Uuid.exactOptional(),
  maxCredits: CapAmount.exactOptional(),
})

export function define(schedule: Command): void {
  schedule.addHelpText(
    'after',
    examples('loam schedule set --sheet <sheet_id> --cron "*/5 * * * *"', 'loam schedule list'),
  )
  defineSet(schedule)
  defineList(schedule)
  defineUnset(schedule)
}

function defineSet(schedule: Command): void {
  schedule
    .command('set')
    .description(
      'Run rows of a sheet on a cron schedule; all their actions run and are billed again each time',
    )
    .requiredOption(...SHEET)
    .requiredOption(
      '--cron <line>',
      'minute, hour, day of month, month, day of week; or @hourly, @daily, ...',
    )
    .option(
      '--only <rows>',
      'unfinished or failed: rows that never finished, or rows with a failure (default all rows)',
    )
    .option('--view <view_id>', 'the rows of a view, in its order, instead of --only')
    .option('--max-credits <credits>', 'credit limit of each run (default none)')
    .option('--timezone <name>', `time zone of the line (default ${DEFAULT_TIMEZONE})`)
    .option(...SHEET_ORG)
    .addHelpText(
      'after',
      examples(
        'loam schedule set --sheet <sheet_id> --cron "*/5 * * * *"',
        'loam schedule set --sheet <sheet_id> --cron "0 9 * * MON-FRI" --timezone Europe/Berlin',
        'loam schedule set --sheet <sheet_id> --cron @hourly --only failed --max-credits 50',
      ),
    )
    .action(
      inSession(SetFlags, async ({ db }, flags) => {
        const sheet = await requireSheet(db, flags)
        const { maxCredits: maxCreditsMillis = null, view: viewId, ...given } = flags
        if (viewId !== undefined && given.only !== undefined)
          throw invalid('--view', 'cannot be combined with --only')
        if (viewId !== undefined && (await findView(db, sheet, viewId)) === undefined)
          throw invalid('--view', 'is not a view of this sheet')
        const made = await setSchedule(db, OPERATOR, sheet, { ...given, viewId, maxCreditsMillis })
        const { sheet_id, cron, timezone, next_run_at, only_rows: only } = made
        const what = only === null ? '' : ` (${only} rows)`
        const cap = maxCreditsMillis === null ? null : maxCreditsMillis / MILLIS
        const most = cap === null ? '' : `, for at most ${plural(cap, 'credit')} each time`
        return {
          data: {
            sheet_id,
            cron,
            next_run_at,
            ...(only === null ? {} : { only }),
            ...(viewId === undefined ? {} : { view_id: viewId }),
            ...(cap === null ? {} : { max_credits: cap }),
          },
          text: () =>
            `${sheet.name}${what} runs by ${cron} (${timezone})${most}, next at ${formatTime(next_run_at)}.`,
        }
      }),
    )
}

function defineList(schedule: Command): void {
  schedule
    .command('list')
    .description('List the schedules of an organisation')
    .option('--org <org_id>', 'organisation; required if there are several')
    .addHelpText('after', examples('loam schedule list', 'loam schedule list --json'))
    .action(
      inSession(z.strictObject({ org: Org }), async ({ db }, flags) => {
        const { org_id } = await resolveOrganisation(db, flags)
        const found = await listSchedules(db, org_id)
        const schedules = found.map(({ max_credits_millis: millis, view_id, ...schedule }) => ({
          ...schedule,
          ...(view_id === null ? {} : { view_id }),
          max_credits: millis === null ? null : millis / MILLIS,
        }))
        return {
          data: schedules,
          text: () =>
            formatTable(
              ['SHEET', 'CRON', 'TIME ZONE', 'NEXT RUN', 'ROWS', 'AT MOST', 'NAME'],
              schedules.map(
                ({ sheet_id, cron, timezone, next_run_at, only_rows, max_credits, name, ...rest }) => [
                  sheet_id,
                  cron,
                  timezone,
                  formatTime(next_run_at),
                  rest.view_id === undefined ? (only_rows ?? 'all') : 'view',
                  String(max_credits ?? '-'),
                  name,
                ],
              ),
              'No schedules.',
            ),
        }
      }),
    )
}

function defineUnset(schedule: Command): void {
  schedule
    .command('unset')
    .description('End the schedule of a sheet')
    .requiredOption(...SHEET)
    .option(...SHEET_ORG)
    .addHelpText('after', examples('loam schedule unset --sheet <sheet_id>'))
    .action(
      inSession(z.strictObject(SHEET_FLAGS), async ({ db }, flags) => {
        const sheet = await requireSheet(db, flags)
        const was_set = await unsetSchedule(db, OPERATOR, sheet)
        return {
          data: { sheet_id: sheet.sheet_id, cron: null, next_run_at: null, was_set },
          text: () =>
            was_set ? `${sheet.name} no longer has a schedule.` : `${sheet.name} had no schedule.`,
        }
      }),
    )
}
