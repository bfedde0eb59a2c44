import { z } from 'zod'

/** A value as text, with the type to cast it back to. */
const Value = z.object({ text: z.string(), type: z.string() })
export type Value = z.infer<typeof Value>

/** The position. Rows are read by cursor and key, then those with a null cursor. */
const Place = z.object({
  /** `from` is where an earlier pull ended, `last` where this one has arrived. */
  from: Value.nullable(),
  last: Value.nullable(),
  isNull: z.boolean(),
  after: z.object({ cursor: Value.nullable(), key: Value }).nullable(),
})
export type Place = z.infer<typeof Place>

/** A submitted statement that is still running, or whose result has more partitions. */
const Submitted = z.object({
  handle: z.string(),
  size: z.int().positive(),
  partition: z.int().nonnegative(),
  partitions: z.int().nonnegative(),
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  /** The number of its rows already read. */
  taken: z.int().nonnegative(),
  polls: z.int().nonnegative(),
})
export type Submitted = z.infer<typeof Submitted>

export const State = z.object({ place: Place, submitted: Submitted.nullable() })
export type State = z.infer<typeof State>

export const START: Place = { from: null, last: null, isNull: false, after: null }
