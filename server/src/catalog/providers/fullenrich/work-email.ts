import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { hasBothNames, workEmail } from '../../questions/work-email.ts'
import { enrich } from './enrichment.ts'
import { fullenrich } from './provider.ts'

export const fullenrichWorkEmail = defineAdapter(workEmail, fullenrich, {
  price: 2,
  accepts: (person) => person.linkedin_url !== '' || hasBothNames(person),
  run: (ask, person, { poll }) =>
    enrich(ask, { person, field: 'contact.work_emails', poll }, ({ most_probable_work_email: found }) => {
      const status = found?.status ?? ''
      if (!found?.email || status.startsWith('INVALID')) return MISS
      const email = { email: found.email, confidence: null }
      return status === 'CATCH_ALL'
        ? hit({ ...email, status: 'catch_all' as const }, false)
        : hit(email, status === 'DELIVERABLE')
    }),
})
