import { z } from 'zod'
import type { Ask } from '../../../catalog/provider/adapter.ts'
import { typeform } from '../../../catalog/providers/typeform/provider.ts'
import { isObject } from '../../../lib/json/object.ts'
import { definePull } from '../../pull.ts'
import { defineShape } from '../../shape.ts'
import { FORM_ID, Form, type FormField, listFields } from './form.ts'

export const responses = defineShape({
  body: {
    form_id: z
      .string()
      .trim()
      .regex(FORM_ID, 'must be the id of a form, such as u6nXL7 in its URL')
      .describe('The id of the form'),
    form_fields: z
      .array(z.string().min(1).max(500))
      .min(1)
      .max(500)
      .describe('Only the answers to these questions, each by its id, ref or title')
      .optional(),
  },
  row: z.record(z.string(), z.unknown()),
})

const Answer = z.looseObject({ type: z.string(), field: z.object({ id: z.string() }) })
// https://www.typeform.com/developers/responses/reference/retrieve-responses/
const Reply = z.object({
  total_items: z.number().optional(),
  items: z.array(
    z.object({
      token: z.string(),
      submitted_at: z.string(),
      answers: z.array(Answer).nullish(),
      hidden: z.record(z.string(), z.unknown()).nullish(),
    }),
  ),
})

const Named = z.object({ id: z.string(), name: z.string() })
const State = z.object({
  since: z.string().nullable(),
  after: z.string().nullable(),
  fields: z.array(Named).nullable(),
})
const MAX_PAGE = 1000
/**
 * The overlap between pulls. Typeform says that very recent responses ("say within the last 30 minutes") may be
 * missing.
 */
const LATE_MS = 60 * 60_000

export const submittedResponses = definePull(responses, typeform, {
  price: 0,
  state: State,
  skipExisting: (at) => ({ since: printTime(at.getTime()), after: null, fields: null }),
  async pull({ body: { form_id, form_fields }, state, limit, notBefore, ask }) {
    const fields = state?.fields ?? (await readFields(ask, form_id, form_fields))
    if ('kind' in fields) return fields
    const size = Math.min(MAX_PAGE, limit)
    const after = state?.after ?? null
    // A token continues in the order of submission and allows no other sorting.
    const place = after === null ? { since: state?.since ?? undefined, sort: 'submitted_at,asc' } : { after }
    const query = { page_size: size, ...place }
    return ask({ path: `/forms/${form_id}/responses`, query }, Reply, ({ items, total_items }) => {
      const last = items.at(-1)
      const newest = Math.max(...items.map(({ submitted_at }) => Date.parse(submitted_at)))
      const from = Math.max(newest - LATE_MS, notBefore?.getTime() ?? 0)
      const since = items.length > 0 ? printTime(from) : (state?.since ?? null)
      return {
        records: items.map(({ token, submitted_at, answers, hidden }) => ({
          key: token,
          row: { ...hidden, ...toAnswers(fields, answers ?? []), submitted_at },
        })),
        next: last === undefined || items.length < size ? null : { since, after: last.token, fields },
        resume: { since, after: null, fields: null },
        ...(state === null && total_items !== undefined ? { total: total_items } : {}),
      }
    })
  },
})

/** Prints a time in UTC, in whole seconds. */
const printTime = (ms: number) => new Date(ms).toISOString().slice(0, 19)

async function readFields(ask: Ask, form_id: string, wanted: string[] | undefined) {
  return ask({ path: `/forms/${form_id}` }, Form, ({ fields }) => {
    const all = listFields(fields)
    const isWanted = ({ id, ref, name }: FormField) =>
      wanted === undefined || wanted.some((word) => word === id || word === ref || word === name)
    return all.filter(isWanted).map(({ id, name }) => ({ id, name }))
  })
}

function toAnswers(fields: readonly z.infer<typeof Named>[], answers: readonly z.infer<typeof Answer>[]) {
  const given = new Map(answers.map((answer) => [answer.field.id, readAnswer(answer)]))
  return Object.fromEntries(fields.map(({ id, name }) => [name, given.get(id) ?? null]))
}

/**
 * Returns the value of an answer. It is stored under the name of its type: `{type: "email", email: "an@acme.example"}`.
 */
function readAnswer({ type, field: _field, ...answer }: z.infer<typeof Answer>): unknown {
  const value = answer[type]
  if (type === 'choice' && isObject(value)) return value['label'] ?? value['other'] ?? null
  if (type === 'choices' && isObject(value)) {
    const labels = Array.isArray(value['labels']) ? value['labels'] : []
    return value['other'] === undefined ? labels : [...labels, value['other']]
  }
  return value ?? answer
}
