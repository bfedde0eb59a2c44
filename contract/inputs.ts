import { z } from 'zod'
import { boundedArray } from './schema-checks.ts'
import { Name } from './text.ts'

export const INPUT_TYPES = ['string', 'url', 'email', 'number'] as const

export const Input = z
  .object({
    name: z.string(),
    type: z.enum(INPUT_TYPES).describe('Metadata only: values are stored as given'),
    description: z.string(),
    reference: z.string().describe('Always `{{input.<name>}}`'),
  })
  .meta({ id: 'Input' })

export const MAX_INPUTS = 500
export const MAX_DESCRIPTION = 10_000

const NewInput = z.strictObject({
  // Clients resolve `.` and `..` in a URL: deleting the input `..` would delete its sheet.
  name: Name.refine((name) => !/[{}]/.test(name), 'must not contain braces').refine(
    (name) => name !== '.' && name !== '..',
    'must not be . or ..',
  ),
  type: z.enum(INPUT_TYPES),
  description: z
    .string()
    .max(MAX_DESCRIPTION)
    .refine((text) => !text.includes('\0'), 'must not contain NUL characters')
    .refine((text) => text.isWellFormed(), 'must be well-formed Unicode (it holds half of a surrogate pair)')
    .default(''),
  reference: z.never('not accepted').optional(),
})
export type NewInput = z.infer<typeof NewInput>

/** Returns the indexes of items whose name is taken or repeats an earlier one. Names are compared exactly (D28). */
export function repeatedNames(items: readonly unknown[], taken: Iterable<string> = []): number[] {
  const seen = new Set<unknown>(taken)
  return items.flatMap((item, place) => {
    const name = typeof item === 'object' && item !== null && 'name' in item ? item.name : undefined
    if (typeof name !== 'string' || name === '') return []
    if (seen.has(name)) return [place]
    seen.add(name)
    return []
  })
}

export const REPEATED_NAME = 'must be unique in the sheet'

export const CreateInputsBody = boundedArray(NewInput, { min: 1, max: MAX_INPUTS })
