import type { Command } from 'commander'
import { z } from 'zod'
import { EntityKind, RecordSource } from '#contract/records.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { describeEntities } from '#server/records/entity.ts'
import { declareSourceOrder } from '#server/records/source-order.ts'
import { findEntities } from '#server/records/store/entities.ts'
import { searchEntities } from '#server/records/store/search.ts'
import { listSourceOrder } from '#server/records/store/sources.ts'
import { examples, Limit, List, Org } from '../flags.ts'
import { formatTable } from '../output.ts'
import { inSession, resolveOrganisation } from '../session.ts'
import { ORG } from './entity-flag.ts'

/** Reads `name=value`. A value that is valid JSON may be stored as JSON or as text, so both are searched. */
const FieldValue = z.string().transform((text, context) => {
  const at = text.indexOf('=')
  if (at < 1) context.addIssue(`${text} must be name=value`)
  const [name, value] = [text.slice(0, at), text.slice(at + 1)]
  const asText = JSON.stringify({ [name]: value })
  return /^(-?\d+(\.\d+)?|true|false)$/.test(value)
    ? [asText, `{${JSON.stringify(name)}:${value}}`]
    : [asText]
})

const SearchFlags = z
  .strictObject({
    identifier: z.string().trim().toLowerCase().optional(),
    kind: EntityKind.exactOptional(),
    field: z.array(FieldValue).default([]),
    limit: Limit(50, 1000),
    org: Org,
  })
  .refine(({ identifier, field }) => identifier || field.length > 0, {
    path: ['identifier'],
    message: 'must be the beginning of an identifier, unless --field is given',
  })

const SourcesFlags = z.strictObject({
  order: List.pipe(z.array(RecordSource)).exactOptional(),
  org: Org,
})

const collect = (value: string, before: string[] = []) => [...before, value]

/** Defines the commands that search the whole record store. */
export function defineLookups(records: Command): void {
  records
    .command('search [identifier]')
    .description('Find entities by the beginning of an identifier, by values of fields, or both')
    .option('--field <name=value>', 'a field with exactly this value; may be given several times', collect)
    .option('--kind <kind>', EntityKind.options.join(', '))
    .option('--limit <number>', 'number of entities (default 50)')
    .option(...ORG)
    .addHelpText(
      'after',
      examples(
        'loam records search acme',
        'loam records search --kind company --field industry=software --json',
      ),
    )
    .action(
      inSession(SearchFlags, async ({ db }, { identifier, kind, field, limit, ...flags }) => {
        const { org_id } = await resolveOrganisation(db, flags)
        const search = { kind: kind ?? null, prefix: identifier || null, fields: field, limit }
        const ids = await searchEntities(db, org_id, search)
        const found = await describeEntities(db, org_id, await findEntities(db, org_id, ids))
        const lines = found.map((entity) => [
          entity.entity_id,
          entity.kind,
          entity.identifiers.map(({ value }) => value).join(' '),
        ])
        return {
          data: found,
          text: () => formatTable(['ENTITY', 'KIND', 'IDENTIFIERS'], lines, 'None found.'),
        }
      }),
    )

  records
    .command('sources')
    .description('Show or set the precedence of sources: the value of the first one counts')
    .option('--order <names>', 'sources by precedence, such as crm,hubspot; other sources come after them')
    .option(...ORG)
    .addHelpText('after', examples('loam records sources', 'loam records sources --order crm,hubspot'))
    .action(
      inSession(SourcesFlags, async ({ db }, flags) => {
        const { org_id } = await resolveOrganisation(db, flags)
        const { changed } =
          flags.order === undefined
            ? { changed: 0 }
            : await declareSourceOrder(db, org_id, OPERATOR, [...new Set(flags.order)])
        const order = await listSourceOrder(db, org_id)
        const text = order.length === 0 ? 'No order is declared: the latest value counts.' : order.join(', ')
        return {
          data: { order, changed },
          text: () => (flags.order === undefined ? text : `${text}\nEntities that changed: ${changed}`),
        }
      }),
    )
}
