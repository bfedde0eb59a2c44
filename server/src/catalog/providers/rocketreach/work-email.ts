import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { hasNameAndDomain, workEmail } from '../../questions/work-email.ts'
import { lookUp } from './lookup.ts'
import { rocketreach } from './provider.ts'

const NOT_AT_WORK: ReadonlySet<string> = new Set(['personal', 'disposable'])

export const rocketreachWorkEmail = defineAdapter(workEmail, rocketreach, {
  price: 2,
  accepts: (person) => person.linkedin_url !== '' || hasNameAndDomain(person),
  run: (ask, person, { poll }) =>
    lookUp(ask, { person, type: 'standard', poll }, (profile) => {
      const emails = (profile.emails ?? []).filter(
        ({ email, type, smtp_valid }) => email && !NOT_AT_WORK.has(type ?? '') && smtp_valid !== 'invalid',
      )
      const wanted = profile.current_work_email ?? profile.recommended_professional_email
      const best =
        emails.find(({ smtp_valid }) => smtp_valid === 'valid') ??
        emails.find(({ email }) => email === wanted) ??
        emails[0]
      return best?.email ? hit({ email: best.email, confidence: null }, best.smtp_valid === 'valid') : MISS
    }),
})
