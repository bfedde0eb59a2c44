import { z } from 'zod'
import { theirstack } from '../../../catalog/providers/theirstack/provider.ts'
import { definePull } from '../../pull.ts'
import { interestedCompanies } from '../intent/explorium.ts'
import { Company, companyKey, companyRow, Metadata, nextPage, pageOf, PageState } from './reply.ts'

// Evidence: company_keyword_slug_or of TheirStack's POST /v1/companies/search takes slugs of technologies and of buying intent
// topics, as GET /v0/catalog/keywords lists them (its OpenAPI models in public clients, November 2026).
const Reply = z.object({ data: z.array(Company), metadata: Metadata })

/** The position: topics are read one after another, so that each company gets the topic it was found by. */
const State = PageState.extend({ topic: z.int().min(0) })

export const theirstackIntent = definePull(interestedCompanies, theirstack, {
  price: 1,
  state: State,
  async pull({ body, state, limit, ask }) {
    if (body.level !== undefined)
      return { kind: 'ineligible', message: 'it does not report the level of interest; leave out level' }
    const { topic: place, ...at } = state ?? { ...pageOf(null, limit), topic: 0 }
    const topic = body.topics[place] ?? ''
    const json = {
      company_keyword_slug_or: [topic],
      ...(body.countries === undefined ? {} : { company_country_code_or: body.countries }),
      page: at.page,
      limit: at.size,
    }
    return ask({ method: 'POST', path: '/v1/companies/search', json }, Reply, ({ data }) => {
      const next = nextPage(at, data.length)
      const rest = place + 1 < body.topics.length ? { ...at, page: 0, topic: place + 1 } : null
      return {
        records: data.map((company) => ({
          key: `${companyKey(company)} ${topic}`,
          row: { ...companyRow(company), topic, score: null },
        })),
        next: next === null ? rest : { ...next, topic: place },
      }
    })
  },
})
