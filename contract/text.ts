import { z } from 'zod'

export const MAX_NAME = 255

/** A text that PostgreSQL can store, both as text and in JSON. */
export const Storable = z
  .string()
  .refine((text) => !text.includes('\0'), 'must not contain NUL characters')
  .refine((text) => text.isWellFormed(), 'must be well-formed Unicode (it holds half of a surrogate pair)')

/** A name given by a person: trimmed, not blank, on one line. */
export const Name = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(MAX_NAME)
  .refine((text) => !/\p{Cc}/u.test(text), 'must not contain control characters')
  .refine((text) => text.isWellFormed(), 'must be well-formed Unicode (it holds half of a surrogate pair)')
