import { z } from 'zod'
import { type Board, isoDate, reader } from './board.ts'

const Reply = z.array(
  z.object({
    text: z.string(),
    hostedUrl: z.string().nullish(),
    createdAt: z.number().nullish(),
    workplaceType: z.string().nullish(),
    categories: z
      .object({
        location: z.string().nullish(),
        department: z.string().nullish(),
        team: z.string().nullish(),
        commitment: z.string().nullish(),
      })
      .nullish(),
    descriptionPlain: z.string().nullish(),
  }),
)

const read = reader(Reply, (postings) => ({
  jobs: postings.map(({ categories, ...posting }) => ({
    title: posting.text.trim(),
    location: categories?.location ?? null,
    department: categories?.department ?? categories?.team ?? null,
    employment_type: categories?.commitment ?? null,
    remote: posting.workplaceType ? posting.workplaceType === 'remote' : null,
    url: posting.hostedUrl ?? null,
    posted_at: isoDate(posting.createdAt),
    source: 'Lever',
    text: posting.descriptionPlain ?? '',
  })),
}))

export const lever: Board = {
  id: 'lever',
  name: 'Lever',
  baseUrl: 'https://api.lever.co',
  path: (company) => `/v0/postings/${company}?mode=json`,
  read,
  signs: [/(?:jobs|api)\.lever\.co\/(?:v0\/postings\/)?([\w.-]*\w)/gi],
}

/** Lever's servers in Europe, with the same API. */
export const leverEurope: Board = {
  ...lever,
  id: 'lever_eu',
  baseUrl: 'https://api.eu.lever.co',
  signs: [/(?:jobs|api)\.eu\.lever\.co\/(?:v0\/postings\/)?([\w.-]*\w)/gi],
}
