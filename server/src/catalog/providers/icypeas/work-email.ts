import { z } from 'zod'
import { defineAdapter, type Found, hit, MISS } from '../../provider/adapter.ts'
import { refusal } from '../../provider/reply.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { type FoundEmail, hasBothNames, workEmail } from '../../questions/work-email.ts'
import { icypeas } from './provider.ts'

const Started = z.object({
  success: z.boolean(),
  item: z.object({ _id: z.string() }).nullish(),
})
const Email = z.object({ email: z.string(), certainty: WireText })
const Item = z.object({
  status: z.string(),
  results: z.object({ emails: z.array(Email).nullish() }).nullish(),
})
const Read = z.object({ success: z.boolean(), items: z.array(Item).nullish() })

const CONFIDENCE: Record<string, number> = { ultra_sure: 0.99, very_sure: 0.95, sure: 0.85, probable: 0.6 }
const AT_WORK = new Set(['NONE', 'SCHEDULED', 'IN_PROGRESS'])

export const icypeasWorkEmail = defineAdapter(workEmail, icypeas, {
  price: 0.5,
  accepts: hasBothNames,
  run: (ask, { first_name, last_name, domain }, { poll }) => {
    if (typeof poll !== 'string') {
      const json = { firstname: first_name, lastname: last_name, domainOrCompany: domain }
      return ask({ method: 'POST', path: '/api/email-search', json }, Started, ({ success, item }) =>
        success && item
          ? { kind: 'pending', afterMs: 2000, poll: item._id }
          : refusal('ineligible', 'it does not take this'),
      )
    }
    const request = { method: 'POST', path: '/api/bulk-single-searchs/read', json: { id: poll } } as const
    return ask(request, Read, ({ items }) => {
      const [item] = items ?? []
      return item === undefined || AT_WORK.has(item.status)
        ? { kind: 'pending', afterMs: 3000, poll }
        : readItem(item)
    })
  },
})

function readItem({ status, results }: z.output<typeof Item>): Found<FoundEmail> {
  if (status === 'INSUFFICIENT_FUNDS') return refusal('no_credits', 'the key is used up')
  const [best] = results?.emails ?? []
  if (best === undefined) return MISS
  const confidence = CONFIDENCE[best.certainty ?? ''] ?? null
  return hit({ email: best.email, confidence }, (confidence ?? 0) >= 0.95)
}
