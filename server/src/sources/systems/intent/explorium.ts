import { z } from 'zod'
import { explorium } from '../../../catalog/providers/explorium/provider.ts'
import { definePull } from '../../pull.ts'
import { companyFields, countries, words } from '../../search-body.ts'
import { defineShape } from '../../shape.ts'
import { ExploriumPage, fetchBusinesses, firstPage } from '../companies/explorium.ts'

export const interestedCompanies = defineShape({
  body: {
    topics: words(
      'Topics of interest: names of Explorium, such as "Security: Cloud Security", or slugs of TheirStack',
    ),
    level: z.enum(['low', 'medium', 'high']).describe('Minimum level of interest').optional(),
    countries,
  },
  row: z.object({ ...companyFields, topic: z.string(), score: z.number().nullable() }),
})

// Evidence: the filter business_intent_topics {topics, topic_intent_level} of POST /v1/businesses, with these three levels, in
// Explorium's own node for n8n and in other public clients, read November 2026.
const LEVELS = { low: 'emerging_intent', medium: 'high_intent', high: 'very_high_intent' }

/**
 * The position: topics are read one after another, so that each company gets the topic it was found by. Explorium
 * reports no score.
 */
const State = ExploriumPage.extend({ topic: z.int().min(0) })

export const exploriumIntent = definePull(interestedCompanies, explorium, {
  price: 1,
  state: State,
  pull({ body, state, limit, ask }) {
    const { topic: place, ...at } = state ?? { ...firstPage(limit), topic: 0 }
    const topic = body.topics[place] ?? ''
    const filters = {
      business_intent_topics: {
        topics: [topic],
        ...(body.level === undefined ? {} : { topic_intent_level: LEVELS[body.level] }),
      },
      ...(body.countries === undefined
        ? {}
        : { country_code: { values: body.countries.map((code) => code.toLowerCase()) } }),
    }
    return fetchBusinesses(ask, filters, at, (found, next) => {
      const rest = place + 1 < body.topics.length ? { ...at, page: 1, topic: place + 1 } : null
      return {
        records: found.map(({ id, row }) => ({ key: `${id} ${topic}`, row: { ...row, topic, score: null } })),
        next: next === null ? rest : { ...next, topic: place },
      }
    })
  },
})
