import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { hasNameAndDomain, workEmail } from '../../questions/work-email.ts'
import { enrichPerson, type Profile } from './enrich.ts'
import { contactout } from './provider.ts'

export const contactoutWorkEmail = defineAdapter(workEmail, contactout, {
  price: 2,
  accepts: (person) => person.linkedin_url !== '' || hasNameAndDomain(person),
  run: (ask, person) =>
    enrichPerson(ask, person, 'work_email', (profile) => {
      const emails = profile.work_email ?? []
      const best = emails.find((email) => isVerified(profile, email)) ?? emails[0]
      return best === undefined ? MISS : hit({ email: best, confidence: null }, isVerified(profile, best))
    }),
})

function isVerified({ work_email_status: status }: Profile, email: string): boolean {
  return status && !Array.isArray(status) ? status[email]?.toLowerCase() === 'verified' : false
}
