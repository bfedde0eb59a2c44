import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { isNamed, linkedinUrl, tellProfile } from '../../questions/linkedin-url.ts'
import { personRequest, Shown, readShown } from './person-request.ts'
import { peopledatalabs } from './provider.ts'

const Reply = z.object({ data: z.object({ linkedin_url: Shown }) })

export const peopledatalabsLinkedinUrl = defineAdapter(linkedinUrl, peopledatalabs, {
  price: 3,
  accepts: isNamed,
  run: (ask, question) => {
    const known = { ...question, linkedin_url: '' }
    const request = personRequest(known, { min_likelihood: 6, required: 'linkedin_url' })
    return ask(request, Reply, ({ data }) => tellProfile(readShown(data.linkedin_url)))
  },
})
