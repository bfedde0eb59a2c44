import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { hasNameAndDomain, workEmail } from '../../questions/work-email.ts'
import { MatchReply, matchRequest } from './match.ts'
import { apollo } from './provider.ts'

/** The statuses of unusable addresses. */
const UNUSABLE = new Set(['bounced', 'unavailable'])

export const apolloWorkEmail = defineAdapter(workEmail, apollo, {
  price: 1,
  accepts: (person) => person.linkedin_url !== '' || hasNameAndDomain(person),
  run: (ask, person) =>
    ask(matchRequest(person), MatchReply, ({ person: found }) => {
      const { email, email_status } = found ?? {}
      // A locked address reads email_not_unlocked@domain.com.
      const isLocked = email?.startsWith('email_not_unlocked') ?? true
      return !email || isLocked || UNUSABLE.has(email_status?.toLowerCase() ?? '')
        ? MISS
        : hit({ email, confidence: null }, email_status === 'verified')
    }),
})
