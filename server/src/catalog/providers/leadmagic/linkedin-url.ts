import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { hasEmail, linkedinUrl, tellProfile } from '../../questions/linkedin-url.ts'
import { leadmagic } from './provider.ts'

const Reply = z.object({ profile_url: WireText })

export const leadmagicLinkedinUrl = defineAdapter(linkedinUrl, leadmagic, {
  price: 5,
  accepts: hasEmail,
  run: (ask, { email }) =>
    ask({ method: 'POST', path: '/v1/people/b2b-profile', json: { work_email: email } }, Reply, (found) =>
      tellProfile(found.profile_url),
    ),
})
