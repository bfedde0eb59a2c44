import { z } from 'zod'
import { isObject } from '../../../lib/json/object.ts'
import { defineProvider } from '../../provider/provider.ts'
import type { ReplyMeaning } from '../../provider/reply.ts'

const Faults = z.array(z.object({ Code: z.union([z.number(), z.string()]).nullish() }))
const CODES: Readonly<Record<string, ReplyMeaning>> = {
  '-2': 'unconfigured',
  '-3': 'no_credits',
  // An unknown technology.
  '-4': 'ineligible',
  // A plan with fewer technologies.
  '-5': 'no_credits',
  // An invalid root domain.
  '-8': 'ineligible',
  '-99': 'outage',
}

export const builtwith = defineProvider({
  id: 'builtwith',
  name: 'BuiltWith',
  evidence: 'api.builtwith.com/errorCodes; api.builtwith.com/domain-api (v22): second check; read 2026-11-20',
  baseUrl: 'https://api.builtwith.com',
  auth: { kind: 'query', name: 'KEY' },
  limits: { perSecond: 8, concurrent: 8 },
  statuses: { 404: 'miss' },
  // Refusals are reported with 200, in a list of errors.
  classify: ({ body }) => {
    const errors: unknown = isObject(body) ? body['Errors'] : undefined
    const codes = Faults.safeParse(errors).data?.map(({ Code }) => CODES[String(Code)]) ?? []
    const meaning = codes.find((found) => found !== undefined)
    if (meaning !== undefined) return meaning
    const text = JSON.stringify(errors ?? [])
    if (/credit/i.test(text)) return 'no_credits'
    return /key/i.test(text) ? 'unconfigured' : null
  },
  probe: { path: '/usagev2/api.json' },
})
