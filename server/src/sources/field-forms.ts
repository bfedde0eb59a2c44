import { z } from 'zod'
import type { SourceType } from '#contract/screens.ts'
import type { Source } from './define.ts'
import { requestSchema } from './request.ts'

type FieldForm = SourceType['fields'][number]
type SimpleForm = FieldForm['fields'][number]

/** The same as other fields, or of a preview only; the name has a place of its own. */
const NOT_ASKED = new Set(['name', 'max_records', 'import_existing_data', 'limit', 'dry_run'])

/** What a form for this kind of source asks for: its own fields first, those of every source after them. */
export function listFieldForms(source: Source): FieldForm[] {
  const schema = Schema.parse(z.toJSONSchema(requestSchema(source), { io: 'input', unrepresentable: 'any' }))
  return formsOf(schema)
    .filter(({ name }) => !NOT_ASKED.has(name) && name !== source.maxCountAlias)
    .map((form) => ({
      ...form,
      ...(form.name === 'connection_id' ? { type: 'connection' as const } : {}),
      has_options: Object.hasOwn(source.options, form.name),
      fields: form.fields.map((field) => ({
        ...field,
        has_options: Object.hasOwn(source.options, field.name),
      })),
    }))
}

/** Whose connections a source can use, each once. */
export function listProviders({ pulls, receives }: Source): string[] {
  const asked = [...pulls, ...(receives?.lookups ?? [])]
  return [...new Set(asked.map(({ provider }) => provider.id))]
}

type Schema = {
  type?: string | undefined
  enum?: string[] | undefined
  description?: string | undefined
  anyOf?: Schema[] | undefined
  items?: Schema | undefined
  properties?: Record<string, Schema> | undefined
  required?: string[] | undefined
  additionalProperties?: unknown
}

const Schema: z.ZodType<Schema> = z.lazy(() =>
  z.object({
    type: z.string().optional(),
    enum: z.array(z.string()).optional().catch(undefined),
    description: z.string().optional(),
    anyOf: z.array(Schema).optional(),
    items: Schema.optional(),
    properties: z.record(z.string(), Schema).optional(),
    required: z.array(z.string()).optional(),
    additionalProperties: z.unknown().optional(),
  }),
)

function formsOf({ properties = {}, required = [] }: Schema): FieldForm[] {
  return Object.entries(properties).map(([name, property]) => ({
    name,
    choices: [],
    fields: [],
    ...controlOf(property),
    required: required.includes(name),
    description: property.description ?? '',
    has_options: false,
  }))
}

/** An object whose own fields are all simple is a form in the form; what lies deeper is JSON. */
function controlOf(
  property: Schema,
): Pick<FieldForm, 'type'> & Partial<Pick<FieldForm, 'choices' | 'fields'>> {
  const { type, enum: choices, items } = property
  if (choices !== undefined) return { type: 'choice', choices }
  if (type === 'boolean') return { type }
  if (type === 'integer' || type === 'number') return { type: 'number' }
  if (takesText(property)) return { type: 'text' }
  if (type === 'array' && items !== undefined && takesText(items)) return { type: 'list' }
  const own = simpleFormsOf(property)
  if (own !== null) return { type: 'object', fields: own }
  const ofItems = type === 'array' && items !== undefined ? simpleFormsOf(items) : null
  if (ofItems !== null) return { type: 'objects', fields: ofItems }
  return { type: isPairs(property) ? 'pairs' : 'json' }
}

const SIMPLE = new Set<FieldForm['type']>(['text', 'number', 'boolean', 'choice', 'list'])

function simpleFormsOf(schema: Schema): SimpleForm[] | null {
  if (schema.type !== 'object' || schema.properties === undefined) return null
  const forms = formsOf(schema)
  return forms.every(({ type }) => SIMPLE.has(type)) ? forms : null
}

/** Texts by names that nobody knows beforehand, such as headers. */
function isPairs({ type, properties, additionalProperties }: Schema): boolean {
  const values = Schema.safeParse(additionalProperties)
  return type === 'object' && properties === undefined && values.success && takesText(values.data)
}

function takesText({ type, anyOf }: Schema): boolean {
  return type === 'string' || (anyOf ?? []).some((one) => one.type === 'string')
}
