import { z } from 'zod'
import type { Refusal } from '../../../catalog/provider/reply.ts'
import { nominatim } from '../../../catalog/providers/nominatim/provider.ts'
import { overpass } from '../../../catalog/providers/overpass/provider.ts'
import { definePull } from '../../pull.ts'
import { businesses, toCircle } from './businesses.ts'
import { CATEGORIES, printQuery } from './overpass-query.ts'

// Evidence: Nominatim's manual (search, jsonv2), the Overpass manual (criteria, out center) and its wiki (id(), out asc n).
const Places = z.array(z.object({ boundingbox: z.tuple([z.string(), z.string(), z.string(), z.string()]) }))

const Point = { lat: z.number().optional(), lon: z.number().optional() }
const Elements = z.object({
  elements: z.array(
    z.object({
      id: z.number(),
      ...Point,
      center: z.object(Point).optional(),
      tags: z.record(z.string(), z.string()).default({}),
    }),
  ),
  remark: z.string().optional(),
})

const KINDS = ['node', 'way', 'relation'] as const
const MAX_PAGE = 1000

/**
 * The position. Overpass has no pages: elements come by kind and id, so the next query asks for those after the last.
 */
const State = z.object({ area: z.string(), kind: z.enum(KINDS), after: z.number() })

export const overpassBusinesses = definePull(businesses, overpass, {
  price: 0,
  state: State,
  async pull({ body, state, limit, ask, askKeyless }) {
    let at = state
    if (at === null) {
      const circle = toCircle(body)
      const area =
        circle === null
          ? await askKeyless(nominatim)(
              { path: '/search', query: { q: body.location, format: 'jsonv2', limit: 1 } },
              Places,
              ([place]) => (place === undefined ? unknownPlace(body.location) : boxOf(place.boundingbox)),
            )
          : `(around:${circle.radius},${circle.latitude},${circle.longitude})`
      if (typeof area !== 'string') return area
      at = { area, kind: 'node', after: 0 }
    }
    const { area, kind, after } = at
    const size = Math.min(limit, MAX_PAGE)
    const data = printQuery({ text: body.query, kind, area, after, size })
    return ask({ path: '/api/interpreter', query: { data } }, Elements, ({ elements, remark = '' }) => {
      // A query that timed out is answered with status 200 and a partial result.
      if (/^runtime error/i.test(remark))
        return {
          kind: 'error',
          message: `Overpass: ${remark.slice(0, 200)}`,
          transient: true,
        } satisfies Refusal
      const last = elements.at(-1)?.id ?? after
      const nextKind = KINDS[KINDS.indexOf(kind) + 1]
      const rest = nextKind === undefined ? null : { area, kind: nextKind, after: 0 }
      return {
        records: elements.map(({ id, tags, center, ...point }) => ({
          key: `${kind}/${id}`,
          row: {
            name: tags['name'] ?? '',
            category: categoryOf(tags),
            address: addressOf(tags),
            phone: tags['phone'] ?? tags['contact:phone'] ?? null,
            website: tags['website'] ?? tags['contact:website'] ?? tags['url'] ?? null,
            latitude: point.lat ?? center?.lat ?? null,
            longitude: point.lon ?? center?.lon ?? null,
          },
        })),
        next: elements.length < size ? rest : { area, kind, after: last },
      }
    })
  },
})

const unknownPlace = (location = ''): Refusal => ({
  kind: 'ineligible',
  message: `location: "${location.slice(0, 100)}" is not known to Nominatim; give latitude and longitude instead`,
})

/** Converts a box: Nominatim orders it south, north, west, east; Overpass south, west, north, east. */
function boxOf([south, north, west, east]: [string, string, string, string]): string {
  return `(${[south, west, north, east].map(Number).join(',')})`
}

function categoryOf(tags: Record<string, string>): string | null {
  return CATEGORIES.flatMap((key) => tags[key] ?? [])[0]?.replaceAll('_', ' ') ?? null
}

function addressOf(tags: Record<string, string>): string | null {
  const line = (...keys: string[]) => keys.flatMap((key) => tags[`addr:${key}`] ?? []).join(' ')
  const parts = [line('street', 'housenumber'), line('postcode', 'city'), line('country')].filter(Boolean)
  return tags['addr:full'] ?? (parts.length === 0 ? null : parts.join(', '))
}
