import { z } from 'zod'
import { serper } from '../../../catalog/providers/serper/provider.ts'
import { definePull } from '../../pull.ts'
import { contentKey } from '../../rows.ts'
import { businesses } from './businesses.ts'

// Evidence: answers of google.serper.dev/places in public clients of it.
const Text = z.string().nullish()
const Reply = z.object({
  places: z
    .array(
      z.object({
        title: z.string(),
        address: Text,
        category: Text,
        phoneNumber: Text,
        website: Text,
        latitude: z.number().nullish(),
        longitude: z.number().nullish(),
        cid: Text,
      }),
    )
    .nullish(),
})
const State = z.object({ page: z.int().min(1) })

export const serperBusinesses = definePull(businesses, serper, {
  price: 0.1,
  state: State,
  async pull({ body, state, ask }) {
    if (body.location === undefined)
      return { kind: 'ineligible', message: 'Serper searches by location, not around a point; give location' }
    const page = state?.page ?? 1
    const json = { q: `${body.query} in ${body.location}`, page }
    return ask({ method: 'POST', path: '/places', json }, Reply, ({ places }) => {
      const found = places ?? []
      return {
        records: found.map((place) => {
          const row = {
            name: place.title,
            category: place.category ?? null,
            address: place.address ?? null,
            phone: place.phoneNumber ?? null,
            website: place.website ?? null,
            latitude: place.latitude ?? null,
            longitude: place.longitude ?? null,
          }
          return { key: place.cid ?? contentKey(row, 'name', 'address'), row }
        }),
        next: found.length === 0 ? null : { page: page + 1 },
      }
    })
  },
})
