import { z } from 'zod'

/**
 * An array whose length is looked at before its items: one of half a million wrong items is refused for its length alone,
 * without a complaint about each of them.
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
