import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { workEmail } from '../../questions/work-email.ts'
import { lookUpProfile, readSlug } from './profile.ts'
import { kaspr } from './provider.ts'

/** Finds work emails. Kaspr does not say whether an address was verified. */
export const kasprWorkEmail = defineAdapter(workEmail, kaspr, {
  price: 2,
  accepts: ({ linkedin_url }) => readSlug(linkedin_url) !== null,
  run: (ask, person) =>
    lookUpProfile(ask, person, 'workEmail', (profile) => {
      const best = profile.starryWorkEmail || profile.starryProfessionalEmail
      const email = best || profile.workEmails?.[0] || profile.professionalEmails?.[0]
      return email ? hit({ email, confidence: null }, false) : MISS
    }),
})
