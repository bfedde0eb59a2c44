import { success } from '#contract/envelope.ts'
import { PriceList, PricesQuery } from '#contract/prices.ts'
import { ok } from '../../api/http/envelope.ts'
import type { RouteServices } from '../../api/http/event-streams.ts'
import type { Api } from '../../api/services.ts'
import { notFound } from '../../lib/errors.ts'

export function priceRoutes(api: Api, { prices }: Pick<RouteServices, 'prices'>): void {
  api.get(
    '/credits/prices',
    {
      config: { scope: 'any key', narrowedKeys: 'allowed' },
      schema: {
        tags: ['Credits'],
        summary: 'List the prices of all actions, providers and the web agent',
        querystring: PricesQuery,
        response: { 200: success(200, PriceList) },
      },
    },
    async ({ db, query }) => {
      const found =
        query.version === undefined ? await prices.current(db) : await prices.find(db, query.version)
      if (found === undefined) throw notFound(`Price version ${query.version}`)
      const { version, effective_at, prices: list } = found
      return ok({ version, effective_at: effective_at.toISOString(), ...list })
    },
  )
}
