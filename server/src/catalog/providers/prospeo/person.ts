import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import { isIdentified, person } from '../../questions/person.ts'
import { prospeo } from './provider.ts'
import { dataOf } from './question.ts'
import { Company, Person, presentOf } from './search.ts'

const Job = z.object({
  title: WireText,
  company_name: WireText,
  current: z.boolean().nullish(),
  start_year: WireNumber,
  start_month: WireNumber,
  end_year: WireNumber,
  end_month: WireNumber,
})
const Reply = z.object({
  person: Person.extend({ job_history: z.array(Job).nullish() }),
  company: Company.nullish(),
})

export const prospeoPerson = defineAdapter(person, prospeo, {
  price: 1,
  accepts: isIdentified,
  run: (ask, question) => {
    const json = { data: dataOf(question) }
    return ask({ method: 'POST', path: '/enrich-person', json }, Reply, (found) => {
      if (!found.person.full_name) return MISS
      const jobs = found.person.job_history ?? []
      const present = presentOf(found)
      return hit({
        ...present,
        company: present.company ?? jobs.find(({ current }) => current)?.company_name ?? null,
        experiences: jobs.map((job) => ({
          title: job.title ?? null,
          company: job.company_name ?? null,
          start: formatDate(job.start_year, job.start_month),
          end: formatDate(job.end_year, job.end_month),
          current: job.current ?? !job.end_year,
        })),
        education: [],
      })
    })
  },
})

/** Returns `2020-03`, or `2020` if the month is unknown. */
function formatDate(year: number | null | undefined, month: number | null | undefined): string | null {
  if (!year) return null
  return month ? `${year}-${String(month).padStart(2, '0')}` : String(year)
}
