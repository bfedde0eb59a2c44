import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { searchCatalogue } from '#contract/catalogue-search.ts'
import { CatalogueAction, CatalogueEntry, CatalogueQuery } from '#contract/catalogue.ts'
import { success } from '#contract/envelope.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api, Services } from '../../../api/services.ts'
import { viewAction, viewEntry, requireTemplate } from '../../../catalog/catalogue-entry.ts'
import { canRun } from '../../../catalog/configuration/reach.ts'
import { readReach } from '../../configuration-environment.ts'

const tags = ['Actions']
const HINT = 'GET /actions lists them'

/** Registers the endpoints of the catalogue. Only `has_key` differs between organisations. */
export function catalogueRoutes(api: Api, { catalogue, config, egress }: Services): void {
  const reachOf = ({ db, caller: { orgId, memberId } }: FastifyRequest) =>
    readReach(db, { org_id: orgId, member_id: memberId }, { config, egress })

  api.get(
    '/actions',
    {
      config: { scope: 'actions:read', narrowedKeys: 'allowed' },
      schema: {
        tags,
        summary: 'List or search the actions that a chain can be made of',
        querystring: CatalogueQuery,
        response: { 200: success(200, z.array(CatalogueEntry)) },
      },
    },
    async (request) => {
      const reach = await reachOf(request)
      const entries = catalogue.list().map((action) => ({
        ...viewEntry(action),
        has_key: canRun(action, reach),
      }))
      return ok(searchCatalogue(entries, request.query.search ?? ''))
    },
  )

  api.get(
    '/actions/:action_id',
    {
      config: { scope: 'actions:read', narrowedKeys: 'allowed' },
      schema: {
        tags,
        summary: 'Get an action of the catalogue with its inputs and outputs',
        params: z.object({ action_id: z.string() }),
        response: { 200: success(200, CatalogueAction) },
      },
    },
    async (request) => {
      const action = requireTemplate(catalogue, request.params.action_id, HINT)
      return ok({ ...viewAction(action), has_key: canRun(action, await reachOf(request)) })
    },
  )
}
