import { z } from 'zod'

/** A text of an answer. A blank or invalid one is null, which means unknown. */
export const Text = z.string().trim().min(1).nullable().catch(null)

/** A number of an answer. An invalid one is null, which means unknown. */
export const Amount = z.number().nullable().catch(null)
