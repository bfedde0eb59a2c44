import { z } from 'zod'

export const Warning = z
  .object({
    field: z.string(),
    code: z.string(),
    message: z.string(),
    text: z.string().exactOptional().describe('The warning for people, with labels instead of ids'),
  })
  .meta({ id: 'Warning' })
export type Warning = z.infer<typeof Warning>

/** Returns the schema of `{status, data, warnings?}`. `warnings` is absent when there are none (D4). */
export function success<Status extends number, Data extends z.ZodType>(status: Status, data: Data) {
  return z.object({ status: z.literal(status), data, warnings: z.array(Warning).optional() })
}

/** Returns the schema for endpoints whose table shows `warnings`: always present, `[]` when empty (D4). */
export function successWithWarnings<Status extends number, Data extends z.ZodType>(
  status: Status,
  data: Data,
) {
  return z.object({ status: z.literal(status), warnings: z.array(Warning), data })
}

/** Returns the schema for endpoints whose table shows `message` beside `data`. */
export function successWithMessage<Status extends number, Data extends z.ZodType>(
  status: Status,
  data: Data,
) {
  return z.object({
    status: z.literal(status),
    message: z.string(),
    data,
    warnings: z.array(Warning).optional(),
  })
}

export const DateTime = z.iso.datetime().describe('UTC, ISO 8601')
export const Uuid = z.guid()
