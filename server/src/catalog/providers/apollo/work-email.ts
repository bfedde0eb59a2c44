import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { hasNameAndDomain, workEmail } from '../../questions/work-email.ts'
import { MatchReply, matchRequest } from './match.ts'
import { apollo } from './provider.ts'

export const apolloWorkEmail = defineAdapter(workEmail, apollo, {
  price: 1,
  accepts: (person) => person.linkedin_url !== '' || hasNameAndDomain(person),
  run: (ask, person) =>
    ask(matchRequest(person), MatchReply, ({ person: found }) =>
      // An address that is locked reads email_not_unlocked@domain.com.
      !found?.email || found.email.startsWith('email_not_unlocked')
        ? MISS
        : hit({ email: found.email, confidence: null }, found.email_status === 'verified'),
    ),
})
