import { success } from '#contract/envelope.ts'
import { STORE } from '#contract/names.ts'
import { RecordPage, RecordsQuery } from '#contract/screens.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api } from '../../../api/services.ts'
import { describeEntities } from '../../entity.ts'
import { findEntities } from '../../store/entities.ts'
import { fitEntities, searchEntities } from '../../store/search.ts'

/** The maximum size of the fields on one page. A page may therefore have fewer records than requested. */
const MAX_PAGE_BYTES = 8 * 1024 ** 2

/** Lists companies, people and contacts of the record store, oldest first. */
export function recordRoutes(api: Api): void {
  api.get(
    '/records',
    {
      config: { scope: STORE },
      schema: { querystring: RecordsQuery, response: { 200: success(200, RecordPage) } },
    },
    async ({ db, caller: { orgId }, query: { kind, q, after, limit } }) => {
      const prefix = q === undefined || q.trim() === '' ? null : q.trim().toLowerCase()
      const ids = await searchEntities(db, orgId, {
        kind,
        prefix,
        fields: [],
        limit: limit + 1,
        ...(after === undefined ? {} : { after }),
      })
      const shown = await fitEntities(db, orgId, ids.slice(0, limit), MAX_PAGE_BYTES)
      const found = await findEntities(db, orgId, shown)
      const inOrder = found.toSorted((one, other) => (one.entity_id < other.entity_id ? -1 : 1))
      const next = ids.length > shown.length ? (shown.at(-1) ?? null) : null
      return ok({ records: await describeEntities(db, orgId, inOrder), next })
    },
  )
}
