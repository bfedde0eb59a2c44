import { z } from 'zod'
import { HUBSPOT_OPTIONS } from '../../../catalog/crm/hubspot-options.ts'
import { byLabel, mapReply } from '../../../catalog/provider/options.ts'
import { hubspot } from '../../../catalog/providers/hubspot/provider.ts'
import type { SourceOptions } from '../../define.ts'
import { fromQuery } from '../../option-query.ts'

// https://developers.hubspot.com/docs/api-reference/crm-lists-v3/lists/post-crm-v3-lists-search
const Lists = z.object({
  lists: z.array(z.object({ listId: z.string(), name: z.string(), objectTypeId: z.string().optional() })),
})
const MAX_LISTS = 500

const lists: SourceOptions = {
  provider: hubspot,
  async list(send) {
    const json = { query: '', count: MAX_LISTS, offset: 0 }
    const reply = await send({ method: 'POST', path: '/crm/v3/lists/search', json }, Lists)
    return mapReply(reply, ({ lists: found }) =>
      byLabel(
        found.map(({ listId, name, objectTypeId }) => ({
          value: listId,
          label: name,
          extras: { object_type: objectTypeId ?? null },
        })),
      ),
    )
  },
}

const properties = fromQuery(HUBSPOT_OPTIONS['HubSpot properties'], 'object_type')

export const hubspotOptions = {
  object_type: fromQuery(HUBSPOT_OPTIONS['HubSpot object types']),
  properties,
  hubspot_properties: properties,
  list_id: lists,
  hubspot_lists: lists,
}
