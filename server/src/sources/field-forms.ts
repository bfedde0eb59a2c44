import { z } from 'zod'
import type { FieldWords } from '#contract/actions.ts'
import type { SourceType } from '#contract/screens.ts'
import type { Source } from './define.ts'
import { findWords } from './field-words.ts'
import { requestSchema } from './request.ts'

type FieldForm = SourceType['fields'][number]
/** A form field without its words for people. */
type BareForm = Omit<FieldForm, keyof FieldWords | 'fields'> & { fields: BareForm[] }

/**
 * Fields that the form does not show: second names of other fields, fields of previews only, and the name, which the
 * form shows elsewhere.
 */
const HIDDEN_FIELDS = new Set(['name', 'max_records', 'import_existing_data', 'limit', 'dry_run'])

/** Lists the form fields for a type of source: its own fields first, then those of every source. */
export function listFieldForms(source: Source): FieldForm[] {
  const schema = Schema.parse(z.toJSONSchema(requestSchema(source), { io: 'input', unrepresentable: 'any' }))
  return readForms(schema)
    .filter(({ name }) => !HIDDEN_FIELDS.has(name) && name !== source.maxCountAlias)
    .map((form) => ({
      ...form,
      ...findWords(source.slug, form.name, form.required),
      ...(form.name === 'connection_id' ? { type: 'connection' as const } : {}),
      has_options: Object.hasOwn(source.options, form.name),
      fields: form.fields.map((field) => ({
        ...field,
        ...findWords(source.slug, field.name, field.required),
        has_options: Object.hasOwn(source.options, field.name),
      })),
    }))
}

/** Lists the ids of the providers whose connections a source can use, each once. */
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

function readForms({ properties = {}, required = [] }: Schema): BareForm[] {
  return Object.entries(properties).map(([name, property]) => ({
    name,
    choices: [],
    fields: [],
    ...readControl(property),
    required: required.includes(name),
    description: property.description ?? '',
    has_options: false,
  }))
}

/**
 * Returns the form control of a property. An object whose own fields are all simple becomes a nested form; deeper ones
 * become JSON.
 */
function readControl(
  property: Schema,
): Pick<BareForm, 'type'> & Partial<Pick<BareForm, 'choices' | 'fields'>> {
  const { type, enum: choices, items } = property
  if (choices !== undefined) return { type: 'choice', choices }
  if (type === 'boolean') return { type }
  if (type === 'integer' || type === 'number') return { type: 'number' }
  if (takesText(property)) return { type: 'text' }
  if (type === 'array' && items !== undefined && takesText(items)) return { type: 'list' }
  const own = readSimpleForms(property)
  if (own !== null) return { type: 'object', fields: own }
  const itemForms = type === 'array' && items !== undefined ? readSimpleForms(items) : null
  if (itemForms !== null) return { type: 'objects', fields: itemForms }
  return { type: isPairs(property) ? 'pairs' : 'json' }
}

const SIMPLE = new Set<FieldForm['type']>(['text', 'number', 'boolean', 'choice', 'list'])

function readSimpleForms(schema: Schema): BareForm[] | null {
  if (schema.type !== 'object' || schema.properties === undefined) return null
  const forms = readForms(schema)
  return forms.every(({ type }) => SIMPLE.has(type)) ? forms : null
}

/** Returns true for an object of texts whose keys are not known in advance, such as headers. */
function isPairs({ type, properties, additionalProperties }: Schema): boolean {
  const values = Schema.safeParse(additionalProperties)
  return type === 'object' && properties === undefined && values.success && takesText(values.data)
}

function takesText({ type, anyOf }: Schema): boolean {
  return type === 'string' || (anyOf ?? []).some((one) => one.type === 'string')
}
