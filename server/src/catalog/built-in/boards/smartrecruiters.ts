import { z } from 'zod'
import { type Board, isoDate, reader } from './board.ts'

const PAGE = 100

const Label = z.object({ label: z.string().nullish() }).nullish()
const Reply = z.object({
  totalFound: z.number(),
  content: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      releasedDate: z.string().nullish(),
      location: z
        .object({
          city: z.string().nullish(),
          region: z.string().nullish(),
          country: z.string().nullish(),
          fullLocation: z.string().nullish(),
          remote: z.boolean().nullish(),
        })
        .nullish(),
      department: Label,
      function: Label,
      typeOfEmployment: Label,
      company: z.object({ identifier: z.string().nullish() }).nullish(),
    }),
  ),
})

export const smartRecruiters: Board = {
  id: 'smartrecruiters',
  name: 'SmartRecruiters',
  baseUrl: 'https://api.smartrecruiters.com',
  path: (company, page) => `/v1/companies/${company}/postings?limit=${PAGE}&offset=${page * PAGE}`,
  read: reader(Reply, ({ content, totalFound }, company, page) => ({
    jobs: content.map(({ location, ...job }) => {
      const place = [location?.city, location?.region, location?.country?.toUpperCase()]
        .filter(Boolean)
        .join(', ')
      return {
        title: job.name.trim(),
        location: location?.fullLocation ?? (place === '' ? null : place),
        department: job.department?.label ?? job.function?.label ?? null,
        employment_type: job.typeOfEmployment?.label ?? null,
        remote: location?.remote ?? null,
        url: `https://jobs.smartrecruiters.com/${job.company?.identifier ?? company}/${job.id}`,
        posted_at: isoDate(job.releasedDate),
        source: 'SmartRecruiters',
        text: '',
      }
    }),
    more: (page + 1) * PAGE < totalFound,
  })),
  signs: [
    /(?:careers|jobs)\.smartrecruiters\.com\/(?!oneclick-ui|widget|sr-|static)(?:ni\/)?([\w-]+)/gi,
    /api\.smartrecruiters\.com\/v1\/companies\/([\w-]+)/gi,
    /["']?company_code["']?\s*:\s*["']([\w-]+)["']/gi,
  ],
}
