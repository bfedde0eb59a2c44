import { z } from 'zod'

/**
 * Returns a schema for an array whose length is checked before its items. An array of half a million wrong items gets one
 * error about its length instead of one error per item.
 */
export function boundedArray<Item extends z.ZodType>(
  item: Item,
  { min = 0, max, error }: { min?: number; max: number; error?: string },
): z.ZodType<z.output<Item>[], readonly z.input<Item>[]> {
  const items = z.array(item, error).min(min).max(max)
  const bounded = z.preprocess((value, context) => {
    if (!Array.isArray(value) || value.length <= max) return value
    context.issues.push({ code: 'too_big', origin: 'array', maximum: max, inclusive: true, input: value })
    return z.NEVER
  }, items)
  // Zod types the input of a preprocessed schema as unknown. Callers are to send what the array takes.
  return bounded as z.ZodType<z.output<Item>[], readonly z.input<Item>[]>
}

/**
 * Returns a check of how the fields of an object fit together. It also runs while single fields are invalid, so that one
 * response names every error (D5). An invalid field holds the value that was sent, so a check may only test for its presence.
 */
export function crossCheck<Value extends object>(check: z.core.CheckFn<Value>): z.core.$ZodCheck<Value> {
  const builtCheck = z.check<Value>(check)
  builtCheck._zod.def.when = ({ value }) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  return builtCheck
}
