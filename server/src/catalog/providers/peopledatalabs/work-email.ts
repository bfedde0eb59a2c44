import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { hasNameAndDomain, workEmail } from '../../questions/work-email.ts'
import { personRequest, Shown, readShown } from './person-request.ts'
import { peopledatalabs } from './provider.ts'

const Reply = z.object({ data: z.object({ work_email: Shown }) })

/** Finds work emails. People Data Labs collects addresses and verifies none. */
export const peopledatalabsWorkEmail = defineAdapter(workEmail, peopledatalabs, {
  price: 3,
  accepts: (person) => person.linkedin_url !== '' || hasNameAndDomain(person),
  run: (ask, person) => {
    const request = personRequest({ ...person, email: '' }, { min_likelihood: 6, required: 'work_email' })
    return ask(request, Reply, ({ data }) => {
      const email = readShown(data.work_email)
      return email === null ? MISS : hit({ email, confidence: null }, false)
    })
  },
})
