import { z } from 'zod'

/**
 * Returns a schema for an array whose length is checked before its items. An array of half a million wrong items gets one
 * error about its length instead of one error per item.
 */
export function boundedArray<Item extends z.ZodType>(
  item: Item,
  { min = 0, max, error }: { min?: number; max: number; error?: string },
) {
  const items = z.array(item, error).min(min).max(max)
  return z.preprocess((value, context) => {
    if (!Array.isArray(value) || value.length <= max) return value
    context.issues.push({ code: 'too_big', origin: 'array', maximum: max, inclusive: true, input: value })
    return z.NEVER
  }, items)
}
