import type { Db } from '../../database/connection/db.ts'
import type { EntityRecord } from '../store/entities.ts'
import { readFilter } from './evaluate.ts'
import type { Condition } from './filter.ts'
import { explainEntities } from './judge-entities.ts'
import { findKnown, readClock } from './store/members.ts'
import type { SegmentRecord } from './store/segments.ts'

const EVENTS_SHOWN = 100

export type ExplainedCondition = {
  place: string
  condition: Condition
  holds: boolean
  /** The value that the entity has: one value, several identifiers, or counts. */
  seen: unknown
  /** The time at which the result may change without any other change. */
  changes_at: string | null
}

export type Explanation = {
  entity_id: string
  /** The result of the current filter. `is_member` is the result of the last evaluation. */
  matches: boolean
  is_member: boolean
  reason: string | null
  changes_at: string | null
  conditions: ExplainedCondition[]
}

/** Explains why an entity is a member or not, condition by condition, by the same rules as the evaluation. */
export async function explainMembership(
  db: Db,
  segment: SegmentRecord,
  entity: EntityRecord,
): Promise<Explanation> {
  const { entity_id } = entity
  const filter = readFilter(segment)
  const now = await readClock(db)
  const { org_id: orgId, kind } = segment
  const question = { orgId, kind, filter, now, eventsShown: EVENTS_SHOWN }
  const verdict = (await explainEntities(db, question, [entity_id])).get(entity_id)
  const [known] = await findKnown(db, segment, [entity_id])
  const conditions = (verdict?.groups ?? []).flatMap((group, outer) =>
    group.conditions.flatMap(({ outcome: { holds, seen, changesAt } }, inner): ExplainedCondition[] => {
      const condition = filter[outer]?.conditions[inner]
      if (condition === undefined) return []
      const place = `filter[${outer}].conditions[${inner}]`
      return [{ place, condition, holds, seen, changes_at: printTime(changesAt) }]
    }),
  )
  return {
    entity_id,
    matches: verdict?.holds === true,
    is_member: known?.is_member === true,
    reason:
      verdict === undefined ? `the entity is of kind ${entity.kind}, the segment of kind ${kind}` : null,
    changes_at: printTime(verdict?.changesAt ?? null),
    conditions,
  }
}

const printTime = (time: number | null) => (time === null ? null : new Date(time).toISOString())
