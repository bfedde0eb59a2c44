import { z } from 'zod'
import type { AdapterAsk, Found } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'

const Started = z.object({ id: z.string() })
const Result = z.object({ qualification: z.string(), email: WireText, number: WireText })
export type SearchResult = z.output<typeof Result>

type Search = {
  path: '/email/find/single' | '/email/verify/single' | '/phone/single'
  json: object
  poll: unknown
}

/** Starts a search, then polls the same path for the result. */
export function search<Value>(
  ask: AdapterAsk,
  { path, json, poll }: Search,
  read: (result: SearchResult) => Found<Value>,
): Promise<Found<Value>> {
  if (typeof poll !== 'string') {
    return ask({ method: 'POST', path, json }, Started, ({ id }) => ({
      kind: 'pending',
      afterMs: 2000,
      poll: id,
    }))
  }
  return ask({ path, query: { id: poll } }, Result, (result) =>
    result.qualification === 'ongoing' ? { kind: 'pending', afterMs: 3000, poll } : read(result),
  )
}
