import { z } from 'zod'
import type { FieldError } from '#contract/errors.ts'
import { type BodyOf, defineShape } from '../../shape.ts'

export const businesses = defineShape({
  body: {
    query: z
      .string()
      .trim()
      .min(1)
      .max(100)
      .regex(/[\p{L}\p{N}]/u, 'must have a letter or a digit')
      .describe('The kind of business, or part of its name: dentist, coffee shop'),
    location: z.string().trim().min(2).max(200).describe('A town, region or address').optional(),
    latitude: z.number().min(-90).max(90).describe('Instead of a location, with longitude').optional(),
    longitude: z.number().min(-180).max(180).describe('Instead of a location, with latitude').optional(),
    radius_m: z.int().min(1).max(50_000).describe('Metres around the point; default 5000').optional(),
  },
  row: z.object({
    name: z.string(),
    category: z.string().nullable(),
    address: z.string().nullable(),
    phone: z.string().nullable(),
    website: z.string().nullable(),
    latitude: z.number().nullable(),
    longitude: z.number().nullable(),
  }),
})

type Asked = BodyOf<typeof businesses.body>

/** Checks the place: either a location by name or a circle around a point. */
export function checkPlace({ location, latitude, longitude, radius_m }: Asked): FieldError[] {
  if (latitude === undefined && longitude === undefined) {
    if (location === undefined)
      return [{ field: 'location', message: 'required, unless latitude and longitude are given' }]
    const message = 'needs latitude and longitude; give both, or leave out radius_m'
    return radius_m === undefined ? [] : [{ field: 'radius_m', message }]
  }
  const missing = latitude === undefined ? 'latitude' : 'longitude'
  if (latitude === undefined || longitude === undefined)
    return [{ field: missing, message: 'required; give latitude and longitude together' }]
  return location === undefined
    ? []
    : [{ field: 'location', message: 'cannot be combined with latitude and longitude; give one of them' }]
}

const DEFAULT_RADIUS = 5000

export type Circle = { latitude: number; longitude: number; radius: number }

export function toCircle({ latitude, longitude, radius_m }: Asked): Circle | null {
  if (latitude === undefined || longitude === undefined) return null
  return { latitude, longitude, radius: radius_m ?? DEFAULT_RADIUS }
}
