import { z } from 'zod'

/**
 * Checks how the fields of an object go together, also while single fields are wrong, so that everything is said at once (D5).
 * Fields that are wrong have the values that were sent: a check may only ask whether they are there.
 */
export function crossCheck<Value extends object>(check: z.core.CheckFn<Value>): z.core.$ZodCheck<Value> {
  const made = z.check<Value>(check)
  made._zod.def.when = ({ value }) => typeof value === 'object' && value !== null && !Array.isArray(value)
  return made
}
