import { z } from 'zod'
import type { FieldError } from '#contract/errors.ts'
import { type BodyOf, defineShape } from '../../shape.ts'

const Field = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,62}$/, 'must be snake_case')
    .describe('Name of the field in rows'),
  description: z.string().trim().max(500).describe('What the page calls it, or what it holds').optional(),
})

export const websiteItems = defineShape({
  body: {
    url: z
      .url({ protocol: /^https?$/, error: 'must be an http or https address' })
      .max(2000)
      .describe('The page with the list'),
    item: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .describe('What to list, where a page has several lists: products, team members')
      .optional(),
    fields: z.array(Field).min(1).max(50).describe('Which fields; all that are found without it').optional(),
    model: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .describe('The model that reads the pages; without it their JSON-LD, tables and lists are read')
      .optional(),
    follow_pagination: z
      .boolean()
      .describe('Whether the pages behind "next" are read too; default false')
      .optional(),
  },
  row: z.record(z.string(), z.unknown()),
  fieldsOf: ({ fields }) => (fields === undefined ? null : [...fields.map(({ name }) => name), 'source_url']),
})

export type Wanted = BodyOf<typeof websiteItems.body>

export function checkFields({ fields = [], model }: Wanted): FieldError[] {
  if (model !== undefined && fields.length === 0) {
    return [{ field: 'fields', message: 'required with model: what it is to find out about each item' }]
  }
  return fields.flatMap(({ name }, n) => {
    if (name === 'source_url') return [{ field: `fields[${n}].name`, message: 'is a field of every row' }]
    return fields.findIndex((other) => other.name === name) < n
      ? [{ field: `fields[${n}].name`, message: 'is used twice' }]
      : []
  })
}
