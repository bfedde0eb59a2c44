import { z } from 'zod'

/** A text of an answer; what is blank or no text is not known. */
export const Text = z.string().trim().min(1).nullable().catch(null)

/** A number of an answer; what is no number is not known. */
export const Amount = z.number().nullable().catch(null)
