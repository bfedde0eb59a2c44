import { z } from 'zod'
import { ownValue } from '../../../lib/json/object.ts'
import type { Filter } from '../../filters.ts'
import type { Keyed } from '../../pull.ts'

export type Wanted = { object_type: string; properties: string[]; filters?: Filter[] | undefined }

/** A record as all HubSpot endpoints return it. */
export const Found = z.object({
  id: z.string(),
  properties: z.record(z.string(), z.unknown()),
  updatedAt: z.string().optional(),
})
export type Found = z.infer<typeof Found>

export function toRecord({ id, properties }: Found, wanted: Wanted): Keyed<Record<string, unknown>> {
  return {
    key: id,
    row: {
      id,
      ...Object.fromEntries(wanted.properties.map((name) => [name, ownValue(properties, name) ?? null])),
    },
  }
}
