import { z } from 'zod'
import type { SourceType } from '#contract/screens.ts'
import type { Source } from './define.ts'
import { requestSchema } from './request.ts'

type FieldForm = SourceType['fields'][number]

/** The same as other fields, or of a preview only; the name has a place of its own. */
const NOT_ASKED = new Set(['name', 'max_records', 'import_existing_data', 'limit', 'dry_run'])

/** What a form for this kind of source asks for: its own fields first, those of every source after them. */
export function listFieldForms(source: Source): FieldForm[] {
  const schema = requestSchema(source)
  const { properties, required } = ObjectSchema.parse(
    z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }),
  )
  return Object.entries(properties).flatMap(([name, property]) =>
    NOT_ASKED.has(name) || name === source.maxCountAlias
      ? []
      : [
          {
            name,
            ...controlOf(property),
            required: required.includes(name),
            description: property.description ?? '',
          },
        ],
  )
}

const Typed = z.object({ type: z.string().optional(), enum: z.array(z.string()).optional() })
const Alternatives = Typed.extend({ anyOf: z.array(Typed).optional() })
const Property = Alternatives.extend({
  description: z.string().optional(),
  items: Alternatives.optional(),
})
const ObjectSchema = z.object({
  properties: z.record(z.string(), Property),
  required: z.array(z.string()).default([]),
})

function controlOf(property: z.infer<typeof Property>): Pick<FieldForm, 'type' | 'choices'> {
  const { type, enum: choices, items } = property
  if (choices !== undefined) return { type: 'choice', choices }
  if (type === 'boolean') return { type, choices: [] }
  if (type === 'integer' || type === 'number') return { type: 'number', choices: [] }
  if (takesText(property)) return { type: 'text', choices: [] }
  if (type === 'array' && items !== undefined && takesText(items)) return { type: 'list', choices: [] }
  return { type: 'json', choices: [] }
}

function takesText({ type, anyOf }: z.infer<typeof Alternatives>): boolean {
  return type === 'string' || (anyOf ?? []).some((one) => one.type === 'string')
}
