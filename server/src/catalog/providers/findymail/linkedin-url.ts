import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { hasEmail, linkedinUrl, tellProfile } from '../../questions/linkedin-url.ts'
import { findymail } from './provider.ts'

const Reply = z.object({ linkedin_url: WireText })

export const findymailLinkedinUrl = defineAdapter(linkedinUrl, findymail, {
  price: 2,
  accepts: hasEmail,
  run: (ask, { email }) =>
    ask({ method: 'POST', path: '/api/search/reverse-email', json: { email } }, Reply, (found) =>
      tellProfile(found.linkedin_url),
    ),
})
