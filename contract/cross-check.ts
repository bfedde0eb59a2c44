import { z } from 'zod'

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
