import { z } from 'zod'
import { type Board, isoDate, plain, reader } from './board.ts'

const Reply = z.object({
  jobs: z.array(
    z.object({
      title: z.string(),
      absolute_url: z.string().nullish(),
      location: z.object({ name: z.string().nullish() }).nullish(),
      departments: z.array(z.object({ name: z.string().nullish() })).nullish(),
      first_published: z.string().nullish(),
      updated_at: z.string().nullish(),
      content: z.string().nullish(),
    }),
  ),
})

export const greenhouse: Board = {
  id: 'greenhouse',
  name: 'Greenhouse',
  baseUrl: 'https://boards-api.greenhouse.io',
  path: (company) => `/v1/boards/${company}/jobs?content=true`,
  read: reader(Reply, ({ jobs }) => ({
    jobs: jobs.map((job) => ({
      title: job.title.trim(),
      location: job.location?.name ?? null,
      department: job.departments?.[0]?.name ?? null,
      employment_type: null,
      remote: /\bremote\b/i.test(job.location?.name ?? '') ? true : null,
      url: job.absolute_url ?? null,
      posted_at: isoDate(job.first_published ?? job.updated_at),
      source: 'Greenhouse',
      text: plain(job.content),
    })),
  })),
  signs: [
    /(?:boards|job-boards)(?:\.eu)?\.greenhouse\.io\/embed\/job_board(?:\/js)?\?(?:[^"'\s]{0,200}?&(?:amp;)?)?for=([\w-]+)/gi,
    /(?:boards|job-boards)(?:\.eu)?\.greenhouse\.io\/(?!embed\b|v1\b)([\w-]+)/gi,
    /boards-api\.greenhouse\.io\/v1\/boards\/([\w-]+)/gi,
  ],
}
