import { z } from 'zod'
import { success, Uuid } from '#contract/envelope.ts'
import { STORE } from '#contract/names.ts'
import { RecordDetail, RecordPage, RecordsQuery } from '#contract/screens.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api } from '../../../api/services.ts'
import { notFound } from '../../../lib/errors.ts'
import { describeEntities, findRoot } from '../../entity.ts'
import { describeRecord } from '../../record-detail.ts'
import { findEntities } from '../../store/entities.ts'
import { listOrSearch } from '../../value-search.ts'

/** Lists, finds and shows companies, people and contacts of the record store. */
export function recordRoutes(api: Api): void {
  api.get(
    '/records',
    {
      config: { scope: STORE },
      schema: { querystring: RecordsQuery, response: { 200: success(200, RecordPage) } },
    },
    async ({ db, caller: { orgId }, query: { kind, q = '', after, limit } }) => {
      const { ids, next } = await listOrSearch(db, orgId, { kind, text: q, after, limit })
      const found = new Map((await findEntities(db, orgId, ids)).map((one) => [one.entity_id, one]))
      const inOrder = ids.flatMap((id) => found.get(id) ?? []).filter(({ erased_at }) => erased_at === null)
      return ok({ records: await describeEntities(db, orgId, inOrder), next })
    },
  )

  api.get(
    '/records/:entity_id',
    {
      config: { scope: STORE },
      schema: {
        params: z.object({ entity_id: Uuid }),
        response: { 200: success(200, RecordDetail) },
      },
    },
    async ({ db, caller: { orgId }, params }) => {
      const root = await findRoot(db, orgId, params.entity_id.toLowerCase())
      if (root === undefined) throw notFound('Record')
      return ok(await describeRecord(db, orgId, root))
    },
  )
}
