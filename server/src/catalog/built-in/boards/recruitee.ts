import { z } from 'zod'
import { type Board, isoDate, plain, reader } from './board.ts'

const Reply = z.object({
  offers: z.array(
    z.object({
      title: z.string(),
      location: z.string().nullish(),
      city: z.string().nullish(),
      country: z.string().nullish(),
      department: z.string().nullish(),
      employment_type_code: z.string().nullish(),
      remote: z.boolean().nullish(),
      careers_url: z.string().nullish(),
      published_at: z.string().nullish(),
      created_at: z.string().nullish(),
      description: z.string().nullish(),
      requirements: z.string().nullish(),
    }),
  ),
})

export const recruitee: Board = {
  id: 'recruitee',
  name: 'Recruitee',
  baseUrl: 'https://{company}.recruitee.com',
  path: () => '/api/offers',
  read: reader(Reply, ({ offers }) => ({
    jobs: offers.map((offer) => ({
      title: offer.title.trim(),
      location: offer.location ?? ([offer.city, offer.country].filter(Boolean).join(', ') || null),
      department: offer.department ?? null,
      employment_type: offer.employment_type_code ?? null,
      remote: offer.remote ?? null,
      url: offer.careers_url ?? null,
      posted_at: isoDate(offer.published_at ?? offer.created_at),
      source: 'Recruitee',
      text: `${plain(offer.description)} ${plain(offer.requirements)}`,
    })),
  })),
  signs: [/(?:https?:)?\/\/(?!(?:www|api|careers|app|auth|support|help)\.)([a-z0-9-]+)\.recruitee\.com/gi],
}
