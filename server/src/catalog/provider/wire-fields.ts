import { z } from 'zod'

/** A text as providers send it: null, or no field at all, where they know nothing. */
export const WireText = z.string().nullish()

export const WireNumber = z.number().nullish()
