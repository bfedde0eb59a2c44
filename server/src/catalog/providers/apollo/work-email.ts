import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { hasNameAndDomain, workEmail } from '../../questions/work-email.ts'
import { MatchReply, matchRequest } from './match.ts'
import { apollo } from './provider.ts'

/** What it says of addresses that are of no use. */
const USELESS = new Set(['bounced', 'unavailable'])

export const apolloWorkEmail = defineAdapter(workEmail, apollo, {
  price: 1,
  accepts: (person) => person.linkedin_url !== '' || hasNameAndDomain(person),
  run: (ask, person) =>
    ask(matchRequest(person), MatchReply, ({ person: found }) => {
      const { email, email_status } = found ?? {}
      // An address that is locked reads email_not_unlocked@domain.com.
      const isLocked = email?.startsWith('email_not_unlocked') ?? true
      return !email || isLocked || USELESS.has(email_status?.toLowerCase() ?? '')
        ? MISS
        : hit({ email, confidence: null }, email_status === 'verified')
    }),
})
