import type { Command } from 'commander'
import { z } from 'zod'
import { EntityKind } from '#contract/records.ts'
import { isUuid } from '#server/lib/ids.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { erasePerson } from '#server/records/erase.ts'
import { mergeEntities, unmergeEntity } from '#server/records/merge.ts'
import { examples, KnownEmail, Org } from '../flags.ts'
import { inSession, resolveOrganisation } from '../session.ts'
import { ORG, requireEntity } from './entity-flag.ts'

const Named = z.string().trim().min(1, 'must not be empty')
const MergeFlags = z.strictObject({ kept: Named, merged: Named, kind: EntityKind.exactOptional(), org: Org })
const UnmergeFlags = z.strictObject({
  entity_id: z.string().toLowerCase().refine(isUuid, 'must be a UUID, as `loam records history` shows it'),
  org: Org,
})
const EraseFlags = z.strictObject({ email: KnownEmail, org: Org })

/** Defines the commands that correct the record store. */
export function defineRecordEdits(records: Command): void {
  records
    .command('merge <kept> <merged>')
    .description('Merge two entities under the id of the first')
    .option('--kind <kind>', 'required if entities of several kinds have the identifiers')
    .option(...ORG)
    .addHelpText(
      'after',
      examples('loam records merge acme.com acme.io', 'loam records merge acme.com acme.io --json'),
    )
    .action(
      inSession(MergeFlags, async ({ db }, { kept, merged, ...flags }) => {
        const { org_id } = await resolveOrganisation(db, flags)
        const first = await requireEntity(db, org_id, { ...flags, entity: kept })
        const second = await requireEntity(db, org_id, { ...flags, entity: merged })
        const pair = { keptId: first.entity_id, mergedId: second.entity_id }
        const { keptId, mergedId } = await mergeEntities(db, org_id, OPERATOR, pair)
        return {
          data: { entity_id: keptId, merged_id: mergedId },
          text: () => `Merged ${mergedId} into ${keptId}. To undo it: loam records unmerge ${mergedId}`,
        }
      }),
    )

  records
    .command('unmerge <entity_id>')
    .description('Undo the merge of an entity; imports do not merge it again')
    .option(...ORG)
    .addHelpText('after', examples('loam records unmerge 0198c0de-0000-7000-8000-000000000000'))
    .action(
      inSession(UnmergeFlags, async ({ db }, flags) => {
        const { org_id } = await resolveOrganisation(db, flags)
        const { keptId, mergedId } = await unmergeEntity(db, org_id, OPERATOR, flags.entity_id)
        return {
          data: { entity_id: mergedId, kept_id: keptId },
          text: () => `${mergedId} is a separate entity again, no longer merged into ${keptId}.`,
        }
      }),
    )

  records
    .command('erase')
    .description(
      "Delete a person's data: entities with the address, their history, and mentions of the address",
    )
    .requiredOption('--email <address>', 'the address of the person')
    .option(...ORG)
    .addHelpText('after', examples('loam records erase --email ann@acme.com'))
    .action(
      inSession(EraseFlags, async ({ db }, flags) => {
        const { org_id } = await resolveOrganisation(db, flags)
        const erased = await erasePerson(db, org_id, OPERATOR, flags.email)
        return {
          data: erased,
          text: () => `Erased entities: ${erased.entity_ids.length}. Mentions by others: ${erased.mentions}.`,
        }
      }),
    )
}
