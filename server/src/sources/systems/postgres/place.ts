import { z } from 'zod'

const Place = z.object({ cursor: z.string().nullable(), key: z.string() })
/**
 * Rows are walked by cursor and key, then those whose cursor is null. `from` is where an earlier pull ended, `last` where this
 * one has come to.
 */
export const State = z.object({
  from: z.object({ cursor: z.string(), isTime: z.boolean() }).nullable(),
  last: z.object({ cursor: z.string(), isTime: z.boolean() }).nullable(),
  isNull: z.boolean(),
  after: Place.nullable(),
})
export type State = z.infer<typeof State>
