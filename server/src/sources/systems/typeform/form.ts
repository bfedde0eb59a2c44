import { z } from 'zod'
import { byLabel, mapReply } from '../../../catalog/provider/options.ts'
import { refusal } from '../../../catalog/provider/reply.ts'
import { typeform } from '../../../catalog/providers/typeform/provider.ts'
import type { SourceOptions } from '../../define.ts'

export const FORM_ID = /^\w{1,50}$/

type Given = {
  id: string
  ref?: string | undefined
  title: string
  type: string
  properties?: { fields?: Given[] | undefined } | undefined
}
const Field: z.ZodType<Given> = z.object({
  id: z.string(),
  ref: z.string().optional(),
  title: z.string(),
  type: z.string(),
  get properties() {
    return z.object({ fields: z.array(Field).optional() }).optional()
  },
})

// https://www.typeform.com/developers/create/reference/retrieve-form/
export const Form = z.object({ fields: z.array(Field).default([]) })

export type FormField = { id: string; ref: string | undefined; name: string; type: string }

/** Lists the questions with unique names. Groups are flattened; the second of two equal titles gets a number. */
export function listFields(fields: readonly Given[]): FormField[] {
  const taken = new Set(['submitted_at'])
  const open = (given: Given): Given[] => {
    const inner = given.properties?.fields ?? []
    return inner.length > 0 ? inner.flatMap(open) : [given]
  }
  return fields.flatMap(open).map(({ id, ref, title, type }) => {
    // Titles may contain bold text and references to other answers.
    const text = title.replace(/[*_]{1,2}(.+?)[*_]{1,2}/g, '$1').trim() || ref || id
    let name = text
    for (let n = 2; taken.has(name); n += 1) name = `${text} ${n}`
    taken.add(name)
    return { id, ref, name, type }
  })
}

const Forms = z.object({ items: z.array(z.object({ id: z.string(), title: z.string() })) })

const forms: SourceOptions = {
  provider: typeform,
  async list(send) {
    const reply = await send({ path: '/forms', query: { page_size: 200 } }, Forms)
    return mapReply(reply, ({ items }) =>
      byLabel(items.map(({ id, title }) => ({ value: id, label: title }))),
    )
  },
}

const fields: SourceOptions = {
  provider: typeform,
  needs: { form_id: ['form'] },
  async list(send, { form_id = '' }) {
    if (!FORM_ID.test(form_id)) {
      return { ok: false, refusal: refusal('ineligible', 'form_id must be the id of a form, such as u6nXL7') }
    }
    return mapReply(await send({ path: `/forms/${form_id}` }, Form), (form) =>
      listFields(form.fields).map(({ id, ref, name, type }) => ({
        value: ref ?? id,
        label: name,
        extras: { type },
      })),
    )
  },
}

export const typeformOptions = { form_id: forms, form_fields: fields }
