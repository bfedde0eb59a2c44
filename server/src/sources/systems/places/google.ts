import { z } from 'zod'
import { googlePlaces } from '../../../catalog/providers/google_places/provider.ts'
import { definePull } from '../../pull.ts'
import { businesses, type Circle, toCircle } from './businesses.ts'

// Evidence: Google's Places API (New), Text Search: body, field mask and pages, with public clients of it.
const Text = z.string().optional()
const Reply = z.object({
  places: z
    .array(
      z.object({
        id: z.string(),
        displayName: z.object({ text: z.string() }),
        primaryTypeDisplayName: z.object({ text: Text }).optional(),
        primaryType: Text,
        formattedAddress: Text,
        internationalPhoneNumber: Text,
        nationalPhoneNumber: Text,
        websiteUri: Text,
        location: z.object({ latitude: z.number(), longitude: z.number() }).optional(),
      }),
    )
    .default([]),
  nextPageToken: Text,
})
const FIELDS = [
  ...[
    'id',
    'displayName',
    'primaryType',
    'primaryTypeDisplayName',
    'formattedAddress',
    'internationalPhoneNumber',
    'nationalPhoneNumber',
    'websiteUri',
    'location',
  ].map((name) => `places.${name}`),
  'nextPageToken',
].join(',')
const MAX_PAGE = 20

/** The position. A token only works for the same request, including its page size. */
const State = z.object({ token: z.string(), size: z.int().min(1) })

export const googleBusinesses = definePull(businesses, googlePlaces, {
  price: 0.5,
  state: State,
  pull({ body, state, limit, ask }) {
    const circle = toCircle(body)
    const size = state?.size ?? Math.min(limit, MAX_PAGE)
    const json = {
      textQuery: body.location === undefined ? body.query : `${body.query} in ${body.location}`,
      pageSize: size,
      ...(circle === null ? {} : { locationRestriction: { rectangle: rectangleAround(circle) } }),
      ...(state === null ? {} : { pageToken: state.token }),
    }
    const headers = { 'X-Goog-FieldMask': FIELDS }
    const request = { method: 'POST', path: '/v1/places:searchText', json, headers } as const
    return ask(request, Reply, ({ places, nextPageToken }) => ({
      records: places.map((place) => ({
        key: place.id,
        row: {
          name: place.displayName.text,
          category: place.primaryTypeDisplayName?.text ?? place.primaryType?.replaceAll('_', ' ') ?? null,
          address: place.formattedAddress ?? null,
          phone: place.internationalPhoneNumber ?? place.nationalPhoneNumber ?? null,
          website: place.websiteUri ?? null,
          latitude: place.location?.latitude ?? null,
          longitude: place.location?.longitude ?? null,
        },
      })),
      next: nextPageToken ? { token: nextPageToken, size } : null,
    }))
  },
})

const METRES_PER_DEGREE = 111_320

/** Returns a rectangle around a circle: text searches can only be limited to rectangles. */
function rectangleAround({ latitude, longitude, radius }: Circle) {
  const high = radius / METRES_PER_DEGREE
  const wide = Math.min(180, high / Math.max(0.01, Math.cos((latitude * Math.PI) / 180)))
  const around = (sign: 1 | -1) => ({
    latitude: Math.min(90, Math.max(-90, latitude + sign * high)),
    longitude: Math.min(180, Math.max(-180, longitude + sign * wide)),
  })
  return { low: around(-1), high: around(1) }
}
