import type { Command } from 'commander'
import { z } from 'zod'
import { EntityKind, IdentifierKind, RecordSource } from '#contract/records.ts'
import { describeEntity, describeHistory } from '#server/records/entity.ts'
import { VALUE_TYPES } from '#server/records/value-types.ts'
import { DateTime, examples, Org } from '../flags.ts'
import { formatTable, formatTime } from '../output.ts'
import { ORG, requireEntity } from '../records/entity-flag.ts'
import { formatEntity } from '../records/format.ts'
import { importRecords } from '../records/import.ts'
import { defineLookups } from '../records/lookups.ts'
import { defineRecordEdits } from '../records/record-edits.ts'
import { inSession, resolveOrganisation } from '../session.ts'

/**
 * Reads flags of the form `column=kind`. The last equals sign separates, because names of columns may contain
 * one.
 */
const pairs = <Value>(values: z.ZodType<Value>, form: string) =>
  z.array(z.string()).transform((texts, context) => {
    const read = new Map<string, Value>()
    for (const text of texts) {
      const at = text.lastIndexOf('=')
      const value = values.safeParse(text.slice(at + 1))
      if (at < 1 || !value.success) context.addIssue(`${text} must be ${form}`)
      else read.set(text.slice(0, at), value.data)
    }
    return read
  })

const ImportFlags = z.strictObject({
  path: z.string().regex(/\.(csv|jsonl)$/i, 'must be a file whose name ends in .csv or .jsonl'),
  kind: EntityKind,
  source: RecordSource,
  identifier: pairs(
    IdentifierKind,
    `column=kind with one of ${IdentifierKind.options.join(', ')}`,
  ).exactOptional(),
  type: pairs(z.enum(VALUE_TYPES), `column=type with one of ${VALUE_TYPES.join(', ')}`).exactOptional(),
  at: DateTime.refine((time) => time <= new Date(), 'must not be in the future').exactOptional(),
  org: Org,
})

const EntityFlags = z.strictObject({
  entity: z.string().trim().min(1),
  kind: EntityKind.exactOptional(),
  org: Org,
})

const collect = (value: string, before: string[] = []) => [...before, value]

export function define(records: Command): void {
  records.addHelpText(
    'after',
    examples(
      'loam records import companies.csv --kind company --source hubspot',
      'loam records get acme.com',
    ),
  )
  defineImport(records)
  defineGet(records)
  defineHistory(records)
  defineLookups(records)
  defineRecordEdits(records)
}

function defineImport(records: Command): void {
  records
    .command('import <path>')
    .description('Import companies, people or contacts from a CSV or JSONL file')
    .requiredOption('--kind <kind>', `kind of each record: ${EntityKind.options.join(', ')}`)
    .requiredOption('--source <name>', 'source of the records, such as hubspot')
    .option('--identifier <column=kind>', 'a column with identifiers; may be given several times', collect)
    .option('--type <column=type>', 'a column that is not text; may be given several times', collect)
    .option('--at <time>', 'time at which the source had these values (default now)')
    .option(...ORG)
    .addHelpText(
      'after',
      examples(
        'loam records import companies.csv --kind company --source hubspot --identifier Website=domain --type Employees=number',
        'loam records import people.jsonl --kind person --source crm --json',
      ),
    )
    .action(
      inSession(ImportFlags, async ({ db }, { path, kind, source, ...flags }) => {
        const { org_id } = await resolveOrganisation(db, flags)
        const report = await importRecords(db, org_id, path, {
          kind,
          source,
          identifiers: flags.identifier ?? null,
          types: flags.type ?? new Map(),
          at: flags.at ?? new Date(),
        })
        const { faults, ...counts } = report
        const lines = faults.flatMap(({ record, errors }) =>
          errors.map(({ field, message }) => `  record ${record}: ${field}: ${message}`),
        )
        const totals = Object.entries(counts).map(([name, count]) => `${name} ${count}`)
        return {
          data: report,
          text: () => [totals.join(', '), ...lines].join('\n'),
          ...(report.rejected > 0 ? { exit: 1 } : {}),
        }
      }),
    )
}

function defineGet(records: Command): void {
  records
    .command('get <entity>')
    .description(
      'Show an entity, by its id or an identifier: fields with their sources, relationships, events',
    )
    .option('--kind <kind>', 'required if entities of several kinds have the identifier')
    .option(...ORG)
    .addHelpText(
      'after',
      examples('loam records get acme.com', 'loam records get ann@acme.com --kind person --json'),
    )
    .action(
      inSession(EntityFlags, async ({ db }, flags) => {
        const { org_id } = await resolveOrganisation(db, flags)
        const entity = await describeEntity(db, org_id, await requireEntity(db, org_id, flags))
        return { data: entity, text: () => formatEntity(entity) }
      }),
    )
}

function defineHistory(records: Command): void {
  records
    .command('history <entity>')
    .description('List every value that a source gave for a field, and the merges of the entity')
    .option('--kind <kind>', 'required if entities of several kinds have the identifier')
    .option(...ORG)
    .addHelpText('after', examples('loam records history acme.com', 'loam records history acme.com --json'))
    .action(
      inSession(EntityFlags, async ({ db }, flags) => {
        const { org_id } = await resolveOrganisation(db, flags)
        const history = await describeHistory(db, org_id, await requireEntity(db, org_id, flags))
        const values = history.values.map(({ field, value, source, first_seen, last_seen, current }) => [
          field,
          JSON.stringify(value),
          source,
          formatTime(first_seen),
          formatTime(last_seen),
          current ? 'current' : '',
        ])
        const merges = history.merges.map(
          ({ merged_id, kept_id, cause, at, undone_at }) =>
            `${formatTime(at)}  ${merged_id} merged into ${kept_id} by ${cause}${undone_at ? `, undone ${formatTime(undone_at)}` : ''}`,
        )
        const heads = ['FIELD', 'VALUE', 'SOURCE', 'FIRST SEEN', 'LAST SEEN', '']
        return { data: history, text: () => [formatTable(heads, values, 'No values.'), ...merges].join('\n') }
      }),
    )
}
