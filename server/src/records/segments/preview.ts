import type { EntityKind } from '#contract/records.ts'
import type { Db } from '../../database/connection/db.ts'
import { lookUpByKey } from '../../sources/store/source-records.ts'
import type { Filter } from './filter.ts'
import { judgeEntities } from './judge-entities.ts'
import { readClock, scanEntities } from './store/members.ts'

const BATCH = 2000

export type FilterPreview = { members: number; lookedAt: number; complete: boolean; sample: string[] }

/** Previews a filter without saving anything, over all entities of the kind or as many as time allows. */
export async function previewFilter(
  db: Db,
  { orgId, kind, filter }: { orgId: string; kind: EntityKind; filter: Filter },
  { sampled, signal }: { sampled: number; signal: AbortSignal },
): Promise<FilterPreview> {
  const found: FilterPreview = { members: 0, lookedAt: 0, complete: false, sample: [] }
  const now = await readClock(db)
  for (let after: string | null = null; ;) {
    const page: Awaited<ReturnType<typeof scanEntities>> = await scanEntities(db, orgId, after, BATCH)
    const last = page.at(-1)
    if (last === undefined) return { ...found, complete: true }
    const ids = page.filter((one) => one.is_root && one.kind === kind).map(({ entity_id }) => entity_id)
    if (ids.length > 0) {
      const onRelated = () => signal.throwIfAborted()
      const judging = db.transaction().execute(async (trx) => {
        await lookUpByKey(trx)
        return judgeEntities(trx, { orgId, kind, filter, now, onRelated }, ids)
      })
      const verdicts = await judging.catch((cause: unknown) => {
        if (signal.aborted && cause === signal.reason) return null
        throw cause
      })
      // The results of this batch are unknown, so its entities count as not looked at.
      if (verdicts === null) return found
      const members = ids.filter((id) => verdicts.get(id)?.holds === true)
      found.members += members.length
      found.lookedAt += ids.length
      found.sample.push(...members.slice(0, sampled - found.sample.length))
    }
    if (signal.aborted) return found
    after = last.entity_id
  }
}
