import { z } from 'zod'

/** A value as text, with the type to cast it back to. */
const Value = z.object({ text: z.string(), type: z.string() })
export type Value = z.infer<typeof Value>

/** Rows are walked by cursor and key, then those whose cursor is null. */
const Place = z.object({
  /** Where an earlier pull ended, and where this one has come to. */
  from: Value.nullable(),
  last: Value.nullable(),
  isNull: z.boolean(),
  after: z.object({ cursor: Value.nullable(), key: Value }).nullable(),
})
export type Place = z.infer<typeof Place>

/** A statement that was submitted: it is still at work, or its result has more partitions. */
const Submitted = z.object({
  handle: z.string(),
  size: z.int().positive(),
  partition: z.int().nonnegative(),
  partitions: z.int().nonnegative(),
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  /** Rows of it that were read. */
  taken: z.int().nonnegative(),
  polls: z.int().nonnegative(),
})
export type Submitted = z.infer<typeof Submitted>

export const State = z.object({ place: Place, submitted: Submitted.nullable() })
export type State = z.infer<typeof State>

export const START: Place = { from: null, last: null, isNull: false, after: null }
