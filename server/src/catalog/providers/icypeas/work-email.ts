import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { hasBothNames, workEmail } from '../../questions/work-email.ts'
import { icypeas } from './provider.ts'
import { search } from './search.ts'

const CONFIDENCE: Record<string, number> = { ultra_sure: 0.99, very_sure: 0.99, sure: 0.95, probable: 0.95 }

export const icypeasWorkEmail = defineAdapter(workEmail, icypeas, {
  price: 0.5,
  accepts: hasBothNames,
  run: (ask, { first_name, last_name, domain }, { poll }) => {
    const json = { firstname: first_name, lastname: last_name, domainOrCompany: domain }
    return search(ask, { path: '/api/email-search', json, poll }, ({ results }) => {
      const [best] = results?.emails ?? []
      if (!best?.email || best.certainty === 'not_found') return MISS
      const confidence = CONFIDENCE[best.certainty ?? ''] ?? null
      return hit({ email: best.email, confidence }, (confidence ?? 0) >= 0.95)
    })
  },
})
