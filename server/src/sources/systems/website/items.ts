import { z } from 'zod'
import type { FieldError } from '#contract/errors.ts'
import { type BodyOf, defineShape } from '../../shape.ts'

const Field = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,62}$/, 'must be snake_case')
    .describe('Name of the field in rows'),
  description: z
    .string()
    .trim()
    .max(500)
    .describe('The name of the field on the page, or its content')
    .optional(),
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
      .describe('The items to list, if a page has several lists: products, team members')
      .optional(),
    fields: z
      .array(Field)
      .min(1)
      .max(50)
      .describe('The fields of a row; default: all that are found')
      .optional(),
    model: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .describe('The model that reads the pages; default: none, their JSON-LD, tables and lists are read')
      .optional(),
    follow_pagination: z
      .boolean()
      .describe('Whether the following pages ("next") are read too; default false')
      .optional(),
  },
  row: z.record(z.string(), z.unknown()),
  fieldsOf: ({ fields }) => (fields === undefined ? null : [...fields.map(({ name }) => name), 'source_url']),
})

export type Wanted = BodyOf<typeof websiteItems.body>

export function checkFields({ fields = [], model }: Wanted): FieldError[] {
  if (model !== undefined && fields.length === 0) {
    return [{ field: 'fields', message: 'required with model: the fields that the model reads of each item' }]
  }
  return fields.flatMap(({ name }, n) => {
    if (name === 'source_url')
      return [{ field: `fields[${n}].name`, message: 'is reserved: every row has this field' }]
    return fields.findIndex((other) => other.name === name) < n
      ? [{ field: `fields[${n}].name`, message: 'is used twice' }]
      : []
  })
}
