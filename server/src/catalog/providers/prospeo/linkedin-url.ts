import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { isNamed, linkedinUrl, tellProfile } from '../../questions/linkedin-url.ts'
import { prospeo } from './provider.ts'
import { dataOf } from './question.ts'

const Reply = z.object({ person: z.object({ linkedin_url: WireText }) })

export const prospeoLinkedinUrl = defineAdapter(linkedinUrl, prospeo, {
  price: 1,
  accepts: isNamed,
  run: (ask, question) => {
    const json = { data: dataOf({ ...question, linkedin_url: '' }) }
    return ask({ method: 'POST', path: '/enrich-person', json }, Reply, ({ person }) =>
      tellProfile(person.linkedin_url),
    )
  },
})
