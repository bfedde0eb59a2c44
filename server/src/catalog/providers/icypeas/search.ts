import { z } from 'zod'
import type { AdapterAsk, Found } from '../../provider/adapter.ts'
import { refusal } from '../../provider/reply.ts'
import { WireText } from '../../provider/wire-fields.ts'

const Started = z.object({ success: z.boolean(), item: z.object({ _id: z.string() }).nullish() })
const Email = z.object({ email: WireText, certainty: WireText })
const Item = z.object({
  status: z.string(),
  results: z.object({ emails: z.array(Email).nullish() }).nullish(),
})
/** The result of a search. The documentation shows a list of items; some clients received one. */
const Read = z.object({ success: z.boolean(), items: z.array(Item).nullish(), item: Item.nullish() })
export type SearchItem = z.output<typeof Item>

const AT_WORK = new Set(['NONE', 'SCHEDULED', 'IN_PROGRESS'])

type Search = { path: '/api/email-search' | '/api/email-verification'; json: object; poll: unknown }

/** Starts a search, then polls for the result. */
export function search<Result>(
  ask: AdapterAsk,
  { path, json, poll }: Search,
  read: (item: SearchItem) => Found<Result>,
): Promise<Found<Result>> {
  if (typeof poll !== 'string') {
    return ask({ method: 'POST', path, json }, Started, ({ success, item }) =>
      success && item
        ? { kind: 'pending', afterMs: 2000, poll: item._id }
        : refusal('ineligible', 'it does not accept this request'),
    )
  }
  const request = { method: 'POST', path: '/api/bulk-single-searchs/read', json: { id: poll } } as const
  return ask(request, Read, ({ items, item: only }) => {
    const item = items?.[0] ?? only
    if (!item || AT_WORK.has(item.status)) return { kind: 'pending', afterMs: 3000, poll }
    return item.status === 'INSUFFICIENT_FUNDS' ? refusal('no_credits', 'the key is used up') : read(item)
  })
}
