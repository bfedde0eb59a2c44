import { z } from 'zod'
import { defineProvider } from '../../provider/provider.ts'

const Fault = z.object({
  error: z.object({ details: z.array(z.object({ reason: z.string().optional() })).default([]) }),
})

export const googlePlaces = defineProvider({
  id: 'google_places',
  name: 'Google Places',
  evidence:
    'developers.google.com/maps/documentation/places/web-service; named as where it is documented, not checked as of November 2026',
  baseUrl: 'https://places.googleapis.com',
  auth: { kind: 'header', name: 'X-Goog-Api-Key' },
  limits: { perMinute: 600, concurrent: 10 },
  statuses: { 400: 'ineligible' },
  // A bad key is also a 400, with a reason among its details.
  classify: ({ body }) =>
    Fault.safeParse(body).data?.error.details.some(({ reason }) => reason === 'API_KEY_INVALID') === true
      ? 'unconfigured'
      : null,
  probe: {
    method: 'POST',
    path: '/v1/places:searchText',
    json: { textQuery: 'cafe', pageSize: 1 },
    headers: { 'X-Goog-FieldMask': 'places.id' },
  },
})
