import { z } from 'zod'
import { type AdapterAsk, MISS, type Paused } from '../../provider/adapter.ts'
import type { Refusal } from '../../provider/reply.ts'
import { WireText } from '../../provider/wire-fields.ts'

const Reply = z.object({ found: z.boolean().nullish(), company_linkedin_url: WireText })

/** Finds a company's LinkedIn page by domain, because Blitz identifies companies by that page. */
export function findPage(ask: AdapterAsk, domain: string): Promise<{ page: string } | Refusal | Paused> {
  const request = { method: 'POST', path: '/v2/enrichment/domain-to-linkedin', json: { domain } } as const
  return ask(request, Reply, ({ company_linkedin_url: page }) => (page ? { page } : MISS))
}
