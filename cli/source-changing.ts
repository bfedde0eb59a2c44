import type { Command } from 'commander'
import { z } from 'zod'
import { MaxCredits } from '#contract/spending.ts'
import { notFound } from '#server/lib/errors.ts'
import { isUuid } from '#server/lib/ids.ts'
import { MILLIS } from '#server/money/store/credits.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { findSheet } from '#server/sheets/store/sheets.ts'
import { changeCreditCap } from '#server/sources/pulls/credit-cap.ts'
import { deleteSource, setSourceStatus } from '#server/sources/pulls/status.ts'
import { syncSource } from '#server/sources/pulls/sync.ts'
import { loadSources } from '#server/sources/registry.ts'
import { Amount, examples } from './flags.ts'
import { inSession } from './session.ts'
import { OneSource, Pair, readMapping, requireSource, showState, SOURCE, SourceId } from './source-session.ts'

const SyncFlags = z.strictObject({
  id: SourceId,
  workflow: z.string().toLowerCase().refine(isUuid, 'must be a UUID, as `loam workflow list` shows it'),
  map: Pair,
  existing: z.boolean().default(true),
  onChange: z.enum(['ignore', 'update', 'update_and_run']).default('ignore'),
  maxCredits: Amount.exactOptional(),
})

const SetFlags = z.strictObject({
  id: SourceId,
  maxCredits: z
    .string()
    .regex(/^(none|\d+(\.\d{1,3})?)$/, 'must be none or credits with at most 3 decimals, as 500 or 0.125')
    .transform((text) => (text === 'none' ? null : Number(text)))
    .pipe(MaxCredits.nullable()),
})

export function defineChanging(source: Command): void {
  defineSync(source)
  defineStatus(source)
  defineSet(source)
  defineDelete(source)
}

function defineSync(source: Command): void {
  source
    .command('sync')
    .description('Deliver the records of a source into the main sheet of a workflow, from now on')
    .argument(...SOURCE)
    .requiredOption('--workflow <workflow_id>', 'the workflow')
    .requiredOption('--map <pairs...>', 'input.<name>=<field of the source>, for each input')
    .option('--no-existing', 'leave out the records imported so far')
    .option(
      '--on-change <what>',
      'what to do with the row of a changed record: ignore, update, update_and_run',
    )
    .option('--max-credits <credits>', 'credit limit a day (UTC) for the rows it runs (default none)')
    .addHelpText(
      'after',
      examples('loam source sync <id> --workflow <workflow_id> --map input.company=name input.site=domain'),
    )
    .action(
      inSession(SyncFlags, async ({ db }, { id, workflow, map, existing, onChange, maxCredits }) => {
        const record = await requireSource(db, id)
        const sheet = await findSheet(db, record.org_id, workflow)
        if (sheet === undefined) throw notFound(`Workflow ${workflow}`)
        const { mapped, warnings } = await syncSource(
          db,
          OPERATOR,
          { record, sheet, source: (await loadSources()).get(record.slug) },
          {
            fieldMapping: readMapping(map),
            pushExisting: existing,
            onChange,
            maxCredits: maxCredits === undefined ? undefined : maxCredits / MILLIS,
          },
        )
        const data = {
          source_instance_id: id,
          workflow_id: workflow,
          push_existing: existing,
          fields_mapped: mapped,
        }
        return {
          data: { ...data, warnings },
          text: () =>
            [
              `${record.name} now sends its records to ${workflow}.`,
              ...warnings.map(({ message }) => `Warning: ${message}`),
            ].join('\n'),
        }
      }),
    )
}

function defineStatus(source: Command): void {
  for (const [name, status, done] of [
    ['pause', 'paused', 'is paused'],
    ['resume', 'active', 'is active'],
  ] as const) {
    source
      .command(name)
      .description(
        name === 'pause' ? 'Stop the pulls of a source' : 'Resume the pulls of a source where they stopped',
      )
      .argument(...SOURCE)
      .addHelpText('after', examples(`loam source ${name} <id>`))
      .action(
        inSession(OneSource, async ({ db }, { id }) => {
          const record = await setSourceStatus(db, OPERATOR, await requireSource(db, id), status)
          return { data: { source_instance_id: id, status }, text: () => `${record.name} ${done}.` }
        }),
      )
  }
}

function defineSet(source: Command): void {
  source
    .command('set')
    .description('Change the credit limit of a source; one that had reached it continues')
    .argument(...SOURCE)
    .requiredOption(
      '--max-credits <credits>',
      'total including credits already spent; up to 3 decimals, or none for no limit',
    )
    .addHelpText(
      'after',
      examples('loam source set <id> --max-credits 500', 'loam source set <id> --max-credits none'),
    )
    .action(
      inSession(SetFlags, async (session, { id, maxCredits }) => {
        const { db } = session
        const record = await changeCreditCap(db, OPERATOR, await requireSource(db, id), maxCredits)
        return showState(session, record)
      }),
    )
}

function defineDelete(source: Command): void {
  source
    .command('delete')
    .description('Delete a source and its imported records; rows made from them stay')
    .argument(...SOURCE)
    .addHelpText('after', examples('loam source delete <id>'))
    .action(
      inSession(OneSource, async ({ db }, { id }) => {
        const record = await requireSource(db, id)
        await deleteSource(db, OPERATOR, record)
        return {
          data: { source_instance_id: id, status: 'deleted' },
          text: () => `${record.name} is deleted.`,
        }
      }),
    )
}
