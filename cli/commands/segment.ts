import type { Command } from 'commander'
import { z } from 'zod'
import { EntityKind } from '#contract/records.ts'
import type { Db } from '#server/database/connection/db.ts'
import { notFound } from '#server/lib/errors.ts'
import { isUuid } from '#server/lib/ids.ts'
import { parseWithNumberTexts, withPlainNumbers } from '#server/lib/json/lossless-json.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { describeEntities } from '#server/records/entity.ts'
import { evaluateSegments, readFilter } from '#server/records/segments/evaluate.ts'
import { explainMembership } from '#server/records/segments/explain.ts'
import { listUnknownFields } from '#server/records/segments/filter-check.ts'
import {
  createSegment,
  removeSegment,
  requireSegment,
  updateSegment,
} from '#server/records/segments/segments.ts'
import { listMembers } from '#server/records/segments/store/members.ts'
import { findSegmentOwner, listSegments, type SegmentKey } from '#server/records/segments/store/segments.ts'
import { findEntities } from '#server/records/store/entities.ts'
import { examples, Limit, Org } from '../flags.ts'
import { formatTable, formatTime } from '../output.ts'
import { ORG, requireEntity } from '../records/entity-flag.ts'
import { formatExplanation, formatSegment, viewSegment } from '../segments/format.ts'
import { inSession, resolveOrganisation } from '../session.ts'

const Name = z.string().trim().min(1, 'must not be empty').max(200, 'must have at most 200 characters')
const SegmentId = z.string().toLowerCase().refine(isUuid, 'must be a UUID, as `loam segment list` shows it')
const Offset = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a whole number')
  .transform(Number)
  .default(0)

const MAX_FILTER = 200_000

/** Parses JSON from the command line. Its content is checked later against the existing fields. */
const FilterJson = z
  .string()
  .max(MAX_FILTER, `must have at most ${MAX_FILTER} characters`)
  .transform((text, context): unknown => {
    try {
      return withPlainNumbers(parseWithNumberTexts(text), ['values'])
    } catch (cause) {
      if (!(cause instanceof SyntaxError)) throw cause
      context.addIssue(`must be valid JSON: ${cause.message}`)
      return z.NEVER
    }
  })

const CreateFlags = z.strictObject({ name: Name, kind: EntityKind, filter: FilterJson, org: Org })
const UpdateFlags = z
  .strictObject({
    segment_id: SegmentId,
    name: Name.exactOptional(),
    filter: FilterJson.exactOptional(),
    org: Org,
  })
  .refine(({ name, filter }) => name !== undefined || filter !== undefined, {
    path: ['filter'],
    message: 'required, unless --name is given',
  })
const ListFlags = z.strictObject({ limit: Limit(100, 1000), offset: Offset, org: Org })
const MembersFlags = z.strictObject({
  segment_id: SegmentId,
  limit: Limit(100, 1000),
  after: z.string().toLowerCase().refine(isUuid, 'must be the id of an entity').exactOptional(),
  org: Org,
})
const ExplainFlags = z.strictObject({ segment_id: SegmentId, entity: z.string().trim().min(1), org: Org })
const DeleteFlags = z.strictObject({ segment_id: SegmentId, force: z.boolean().default(false), org: Org })

const FILTER = [
  '--filter <json>',
  'condition groups as in run_if.conditions, with field names as variables; see docs/segments.md',
] as const
const EXAMPLE = `'[{"conditions":[{"variable":"industry","operator":"is","values":["software"]}]}]'`
const SOME_ID = '0198c0de-0000-7000-8000-000000000000'

export function define(segment: Command): void {
  segment.addHelpText(
    'after',
    examples(
      `loam segment create --name "Software" --kind company --filter ${EXAMPLE}`,
      `loam segment explain ${SOME_ID} acme.com`,
    ),
  )
  defineCreate(segment)
  defineUpdate(segment)
  defineList(segment)
  defineMembers(segment)
  defineExplain(segment)
  defineDelete(segment)
}

function defineCreate(segment: Command): void {
  segment
    .command('create')
    .description('Save a filter over companies, people or contacts, and find its members')
    .requiredOption('--name <name>', 'name of the segment')
    .requiredOption('--kind <kind>', EntityKind.options.join(', '))
    .requiredOption(...FILTER)
    .option(...ORG)
    .addHelpText(
      'after',
      examples(`loam segment create --name "Software" --kind company --filter ${EXAMPLE}`),
    )
    .action(
      inSession(CreateFlags, async ({ db }, { name, kind, filter, ...flags }) => {
        const { org_id } = await resolveOrganisation(db, flags)
        const { segment_id } = await createSegment(db, org_id, OPERATOR, { name, kind, filter })
        return evaluateAndShow(db, { org_id, segment_id })
      }),
    )
}

function defineUpdate(segment: Command): void {
  segment
    .command('update <segment_id>')
    .description('Rename a segment, or change its filter and find its members again')
    .option('--name <name>', 'a new name')
    .option(...FILTER)
    .option(...ORG)
    .addHelpText('after', examples(`loam segment update ${SOME_ID} --filter ${EXAMPLE}`))
    .action(
      inSession(UpdateFlags, async ({ db }, { segment_id, org, ...change }) => {
        const key = await requireKey(db, { segment_id, org })
        await updateSegment(db, key, OPERATOR, change)
        return evaluateAndShow(db, key)
      }),
    )
}

function defineList(segment: Command): void {
  segment
    .command('list')
    .description('List segments with the number of their members')
    .option('--limit <number>', 'number of entries (default 100)')
    .option('--offset <number>', 'number of entries to skip')
    .option(...ORG)
    .addHelpText('after', examples('loam segment list', 'loam segment list --json'))
    .action(
      inSession(ListFlags, async ({ db }, { limit, offset, ...flags }) => {
        const { org_id } = await resolveOrganisation(db, flags)
        const { segments, total } = await listSegments(db, org_id, { limit, offset })
        const views = segments.map(viewSegment)
        const lines = views.map((view) => [view.segment_id, view.kind, String(view.members), view.name])
        const more = offset + views.length < total ? `\n${total} in total` : ''
        return {
          data: views,
          text: () =>
            `${formatTable(['SEGMENT', 'KIND', 'MEMBERS', 'NAME'], lines, 'No segments yet.')}${more}`,
        }
      }),
    )
}

function defineMembers(segment: Command): void {
  segment
    .command('members <segment_id>')
    .description('List the members of a segment, as the last evaluation found them')
    .option('--limit <number>', 'number of entries (default 100)')
    .option('--after <entity_id>', 'only members after this entity, for the next page')
    .option(...ORG)
    .addHelpText('after', examples(`loam segment members ${SOME_ID} --json`))
    .action(
      inSession(MembersFlags, async ({ db }, { limit, after = null, ...flags }) => {
        const key = await requireKey(db, flags)
        const { org_id } = key
        const members = await listMembers(db, key, { after, limit })
        const ids = members.map(({ entity_id }) => entity_id)
        const found = await describeEntities(db, org_id, await findEntities(db, org_id, ids))
        const byId = new Map(found.map((entity) => [entity.entity_id, entity]))
        const data = members.map(({ entity_id, entered_at }) => ({
          entity_id,
          entered_at,
          identifiers: byId.get(entity_id)?.identifiers ?? [],
        }))
        const lines = data.map(({ entity_id, entered_at, identifiers }) => [
          entity_id,
          formatTime(entered_at),
          identifiers.map(({ value }) => value).join(' '),
        ])
        return { data, text: () => formatTable(['ENTITY', 'ENTERED', 'IDENTIFIERS'], lines, 'No members.') }
      }),
    )
}

function defineExplain(segment: Command): void {
  segment
    .command('explain <segment_id> <entity>')
    .description('Explain why an entity is in a segment or not, by condition, and when time changes it')
    .option(...ORG)
    .addHelpText('after', examples(`loam segment explain ${SOME_ID} acme.com`))
    .action(
      inSession(ExplainFlags, async ({ db }, { entity: named, ...flags }) => {
        const found = await requireSegment(db, await requireKey(db, flags))
        const entity = await requireEntity(db, found.org_id, { entity: named, kind: found.kind })
        const explained = await explainMembership(db, found, entity)
        return { data: explained, text: () => formatExplanation(explained) }
      }),
    )
}

function defineDelete(segment: Command): void {
  segment
    .command('delete <segment_id>')
    .description('Delete a segment with its feed; entities stay as they are')
    .option('--force', 'delete even if it is synced into workflows; the sync ends, rows stay')
    .option(...ORG)
    .addHelpText('after', examples(`loam segment delete ${SOME_ID}`))
    .action(
      inSession(DeleteFlags, async ({ db }, { force, ...flags }) => {
        const key = await requireKey(db, flags)
        const { segment_id } = key
        const { endedSyncId } = await removeSegment(db, key, OPERATOR, { force })
        const ended = endedSyncId === null ? '' : ` Its sync ${endedSyncId} has ended; delivered rows stay.`
        return {
          data: { segment_id, deleted: true, ended_sync_id: endedSyncId },
          text: () => `Deleted segment ${segment_id}.${ended}`,
        }
      }),
    )
}

/**
 * Finds the organisation of a segment by the segment's id, even with several organisations. A segment of
 * another organisation than the one named is not found.
 */
async function requireKey(
  db: Db,
  { segment_id, org }: { segment_id: string; org?: string | undefined },
): Promise<SegmentKey> {
  const org_id = await findSegmentOwner(db, segment_id)
  if (org_id === undefined || (org !== undefined && org !== org_id)) throw notFound(`Segment ${segment_id}`)
  return { org_id, segment_id }
}

/** Evaluates the segment and shows it. If the command is interrupted, a worker continues within a minute. */
async function evaluateAndShow(db: Db, key: SegmentKey) {
  await evaluateSegments(db, key.org_id, key.segment_id)
  const segment = await requireSegment(db, key)
  const warnings = await listUnknownFields(db, key.org_id, segment.kind, readFilter(segment))
  const view = viewSegment(segment)
  const text = () =>
    [formatSegment(view), ...warnings.map(({ field, message }) => `warning: ${field}: ${message}`)].join('\n')
  return { data: { ...view, warnings }, text }
}
