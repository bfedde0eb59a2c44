import { z } from 'zod'
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

export const CreateInputsBody = z
  .array(
    z.strictObject({
      name: Name.refine((name) => !/[{}]/.test(name), 'must not contain braces'),
      type: z.enum(INPUT_TYPES),
      description: z.string().default(''),
      reference: z.never('not accepted').optional(),
    }),
  )
  .min(1)
  .max(MAX_INPUTS)
