import { z } from 'zod'
import { boundedArray, crossCheck } from './schema-checks.ts'
import { Name } from './text.ts'

/** The types of the specification, and three of ours. */
export const INPUT_TYPES = ['string', 'url', 'email', 'number', 'date', 'boolean', 'select'] as const
export type InputType = (typeof INPUT_TYPES)[number]

export const MAX_INPUTS = 500
export const MAX_DESCRIPTION = 10_000
export const MAX_CHOICES = 200

/** The values that an input of type select offers. */
export const Choices = boundedArray(Name, { min: 1, max: MAX_CHOICES }).check((context) => {
  const seen = new Set<unknown>()
  for (const [place, choice] of context.value.entries()) {
    if (seen.has(choice))
      context.issues.push({ code: 'custom', input: choice, path: [place], message: 'must be unique' })
    seen.add(choice)
  }
})

export const Input = z
  .object({
    name: z.string(),
    type: z.enum(INPUT_TYPES).describe('Metadata only: values are stored as given'),
    description: z.string(),
    reference: z.string().describe('Always `{{input.<name>}}`'),
    choices: z.array(z.string()).exactOptional().describe('The values that a `select` offers'),
  })
  .meta({ id: 'Input' })

// Clients resolve `.` and `..` in a URL: deleting the input `..` would delete its sheet.
export const InputName = Name.refine((name) => !/[{}]/.test(name), 'must not contain braces').refine(
  (name) => name !== '.' && name !== '..',
  'must not be . or ..',
)

export const Description = z
  .string()
  .max(MAX_DESCRIPTION)
  .refine((text) => !text.includes('\0'), 'must not contain NUL characters')
  .refine((text) => text.isWellFormed(), 'must be well-formed Unicode (it holds half of a surrogate pair)')

const CHOICES_MISSING = 'required: an input of type select needs choices'
const CHOICES_UNUSED = 'only an input of type select has choices'

const NewInput = z
  .strictObject({
    name: InputName,
    type: z.enum(INPUT_TYPES),
    description: Description.default(''),
    choices: Choices.exactOptional(),
    reference: z.never('not accepted').optional(),
  })
  .check(
    crossCheck((context) => {
      const message = problemOfChoices(context.value)
      if (message !== null)
        context.issues.push({ code: 'custom', input: context.value.choices, path: ['choices'], message })
    }),
  )
export type NewInput = z.infer<typeof NewInput>

/** Returns what is wrong with choices beside a type, or null. */
export function problemOfChoices({ type, choices }: { type: string; choices?: unknown }): string | null {
  if (type === 'select') return choices === undefined ? CHOICES_MISSING : null
  return choices === undefined ? null : CHOICES_UNUSED
}

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

/** A change of an input. Fields that are not sent keep their values. */
export const ChangeInputBody = z.strictObject({
  name: InputName.exactOptional(),
  type: z.enum(INPUT_TYPES).exactOptional(),
  choices: Choices.exactOptional(),
  description: Description.exactOptional(),
})
export type ChangeInputBody = z.infer<typeof ChangeInputBody>

export const ChangedInput = Input.extend({
  references_changed: z
    .array(
      z.object({
        action_instance_id: z.string(),
        fields: z.array(z.string()).describe('Fields of the action; `run_if` is its condition'),
        sheet_id: z.string().exactOptional().describe('Set for actions of other sheets'),
      }),
    )
    .describe('The configurations that followed the new name'),
})
export type ReferencesChanged = z.infer<typeof ChangedInput>['references_changed']

export const DuplicateInputBody = z.strictObject({ name: InputName.exactOptional() }).default({})
