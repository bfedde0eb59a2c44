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
  /** What the entity has: a value, several identifiers, or counts. */
  seen: unknown
  /** When time alone can change that. */
  changes_at: string | null
}

export type Explanation = {
  entity_id: string
  /** As the filter says now; `is_member` is what the last evaluation found. */
  matches: boolean
  is_member: boolean
  reason: string | null
  changes_at: string | null
  conditions: ExplainedCondition[]
}

/** Why an entity is in a segment or not, condition by condition, judged by the same rules as its members are. */
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
    reason: verdict === undefined ? `it is a ${entity.kind}, and the segment is of kind ${kind}` : null,
    changes_at: printTime(verdict?.changesAt ?? null),
    conditions,
  }
}

const printTime = (time: number | null) => (time === null ? null : new Date(time).toISOString())
