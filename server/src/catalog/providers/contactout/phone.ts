import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { phone } from '../../questions/phone.ts'
import { hasNameAndDomain } from '../../questions/work-email.ts'
import { contactout } from './provider.ts'

const Profile = z.object({ phone: z.array(z.string()).nullish() })
/** An empty profile is an empty list. */
const Reply = z.object({ profile: z.union([Profile, z.array(z.unknown())]).nullish() })

export const contactoutPhone = defineAdapter(phone, contactout, {
  price: 5,
  accepts: (person) => person.linkedin_url !== '' || hasNameAndDomain(person),
  run: (ask, { linkedin_url, full_name, domain }) => {
    const json = {
      include: ['phone'],
      ...(linkedin_url === '' ? { full_name, company_domain: [domain] } : { linkedin_url }),
    }
    return ask({ method: 'POST', path: '/v1/people/enrich', json }, Reply, ({ profile }) => {
      const [number] = profile && 'phone' in profile ? (profile.phone ?? []) : []
      return number ? hit({ phone: number, type: null }) : MISS
    })
  },
})
