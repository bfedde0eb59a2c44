import { z } from 'zod'
import { type Board, isoDate, reader } from './board.ts'

const Reply = z.object({
  jobs: z.array(
    z.object({
      title: z.string(),
      location: z.string().nullish(),
      department: z.string().nullish(),
      team: z.string().nullish(),
      employmentType: z.string().nullish(),
      isRemote: z.boolean().nullish(),
      isListed: z.boolean().nullish(),
      publishedAt: z.string().nullish(),
      jobUrl: z.string().nullish(),
      descriptionPlain: z.string().nullish(),
    }),
  ),
})

export const ashby: Board = {
  id: 'ashby',
  name: 'Ashby',
  baseUrl: 'https://api.ashbyhq.com',
  path: (company) => `/posting-api/job-board/${company}`,
  read: reader(Reply, ({ jobs }) => ({
    jobs: jobs
      .filter(({ isListed }) => isListed !== false)
      .map((job) => ({
        title: job.title.trim(),
        location: job.location ?? null,
        department: job.department ?? job.team ?? null,
        employment_type: job.employmentType ?? null,
        remote: job.isRemote ?? null,
        url: job.jobUrl ?? null,
        posted_at: isoDate(job.publishedAt),
        source: 'Ashby',
        text: job.descriptionPlain ?? '',
      })),
  })),
  signs: [/(?:jobs\.ashbyhq\.com|api\.ashbyhq\.com\/posting-api\/job-board)\/((?:[\w.-]|%20)*\w)/gi],
}
