import { z } from 'zod'
import { defineAdapter, hit } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { isIdentified, linkOf, person } from '../../questions/person.ts'
import { personRequest } from './person-request.ts'
import { peopledatalabs } from './provider.ts'

const Named = z.object({ name: WireText }).nullish()
const Reply = z.object({
  data: z.object({
    full_name: z.string(),
    job_title: WireText,
    job_company_name: WireText,
    location_name: WireText,
    linkedin_url: WireText,
    experience: z
      .array(
        z.object({
          title: Named,
          company: Named,
          start_date: WireText,
          end_date: WireText,
          is_primary: z.boolean().nullish(),
        }),
      )
      .nullish(),
    education: z
      .array(
        z.object({
          school: Named,
          degrees: z.array(z.string()).nullish(),
          start_date: WireText,
          end_date: WireText,
        }),
      )
      .nullish(),
  }),
})

export const peopledatalabsPerson = defineAdapter(person, peopledatalabs, {
  price: 3,
  accepts: isIdentified,
  run: (ask, question) =>
    ask(personRequest(question, { min_likelihood: 5 }), Reply, ({ data }) =>
      hit({
        full_name: data.full_name,
        title: data.job_title ?? null,
        company: data.job_company_name ?? null,
        location: data.location_name ?? null,
        linkedin_url: linkOf(data.linkedin_url),
        experiences: (data.experience ?? []).map(({ title, company, start_date, end_date, is_primary }) => ({
          title: title?.name ?? null,
          company: company?.name ?? null,
          start: start_date ?? null,
          end: end_date ?? null,
          current: is_primary ?? !end_date,
        })),
        education: (data.education ?? []).map(({ school, degrees, start_date, end_date }) => ({
          school: school?.name ?? null,
          degree: degrees?.join(', ') ?? null,
          start: start_date ?? null,
          end: end_date ?? null,
        })),
      }),
    ),
})
