import type { RecordDetail } from '#contract/screens.ts'
import type { Db } from '../database/connection/db.ts'
import { describeEntities, describeEntity, describeHistory } from './entity.ts'
import { listSegmentsOfEntity } from './segments/store/members.ts'
import { type EntityRecord, findEntities } from './store/entities.ts'
import { fitEntities } from './store/search.ts'

const MAX_RELATED = 200
/** The maximum size of the fields of all related records together. */
const MAX_RELATED_BYTES = 4 * 1024 ** 2

/** Describes a record for its page: values with their history, related records by value, segments. */
export async function describeRecord(db: Db, orgId: string, root: EntityRecord): Promise<RecordDetail> {
  const { relationships, events, created_at, ...summary } = await describeEntity(db, orgId, root)
  const { values, merges } = await describeHistory(db, orgId, root)
  const wanted = relationships.slice(0, MAX_RELATED)
  const ids = [...new Set(wanted.map(({ entity_id }) => entity_id))]
  const shown = await fitEntities(db, orgId, ids, MAX_RELATED_BYTES)
  const related = await describeEntities(db, orgId, await findEntities(db, orgId, shown))
  const records = new Map(related.map((record) => [record.entity_id, record]))
  const segments = await listSegmentsOfEntity(db, orgId, root.entity_id)
  return {
    ...summary,
    created_at: created_at.toISOString(),
    related_count: relationships.length,
    relationships: wanted.flatMap(({ direction, type, entity_id, source, first_seen, last_seen }) => {
      const record = records.get(entity_id)
      if (record === undefined) return []
      return [{ direction, type, source, ...printTimes({ first_seen, last_seen }), record }]
    }),
    events: events.map(({ type, at, source, data }) => ({ type, at: at.toISOString(), source, data })),
    values: values.map(({ field, value, source, current, first_seen, last_seen }) => ({
      field,
      value,
      source,
      current,
      ...printTimes({ first_seen, last_seen }),
    })),
    merges: merges.map(({ at, undone_at, cause }) => ({
      at: at.toISOString(),
      undone_at: undone_at?.toISOString() ?? null,
      by_person: cause === 'command',
    })),
    segments: segments.map(({ segment_id, name, entered_at }) => ({
      segment_id,
      name,
      entered_at: entered_at.toISOString(),
    })),
  }
}

const printTimes = ({ first_seen, last_seen }: { first_seen: Date; last_seen: Date }) => ({
  first_seen: first_seen.toISOString(),
  last_seen: last_seen.toISOString(),
})
