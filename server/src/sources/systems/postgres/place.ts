import { z } from 'zod'

const Place = z.object({ cursor: z.string().nullable(), key: z.string() })
/**
 * The position. Rows are read by cursor and key, then those with a null cursor. `from` is where an earlier pull ended,
 * `last` where this one has arrived.
 */
export const State = z.object({
  from: z.object({ cursor: z.string(), isTime: z.boolean() }).nullable(),
  last: z.object({ cursor: z.string(), isTime: z.boolean() }).nullable(),
  isNull: z.boolean(),
  after: Place.nullable(),
})
export type State = z.infer<typeof State>
