import { z } from 'zod'
import { CatalogueAction, CatalogueEntry } from '#contract/catalogue.ts'
import { success } from '#contract/envelope.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api, Services } from '../../../api/services.ts'
import { viewAction, viewEntry, requireTemplate } from '../../../catalog/catalogue-entry.ts'

const tags = ['Actions']
const HINT = 'GET /actions lists them'

/** Registers the endpoints of the catalogue, which belongs to the program and contains nothing of any organisation. */
export function catalogueRoutes(api: Api, { catalogue }: Services): void {
  api.get(
    '/actions',
    {
      config: { scope: 'actions:read', narrowedKeys: 'allowed' },
      schema: {
        tags,
        summary: 'List the actions that a chain can be made of',
        response: { 200: success(200, z.array(CatalogueEntry)) },
      },
    },
    async () => ok(catalogue.list().map(viewEntry)),
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
    async ({ params: { action_id } }) => ok(viewAction(requireTemplate(catalogue, action_id, HINT))),
  )
}
