import { type Account, accountOf, iso, jsonOf, pageAt, since, slice, type Thing } from './account.ts'

const site = (id: number) => `${id}.example`

const apolloCompany = ({ id }: Thing) => ({ id: String(id), name: `Company ${id}`, primary_domain: site(id) })
const explorium = (things: Thing[], page: number, size: number) => ({
  json: {
    data: pageAt(things, page - 1, size).map(({ id }) => ({
      business_id: String(id),
      name: `Company ${id}`,
    })),
    total_results: things.length,
  },
})
const crustdataCompany = ({ id }: Thing) => ({
  crustdata_company_id: id,
  basic_info: { name: `Company ${id}`, primary_domain: site(id) },
})
const crustdataPerson = ({ id }: Thing) => ({
  crustdata_person_id: id,
  basic_profile: { name: `Ann ${id}` },
})
const savedCompany = ({ id }: Thing) => ({
  basic_info: { name: `Company ${id}`, professional_network_id: String(id) },
})
const theirstackCompany = ({ id }: Thing) => ({ name: `Company ${id}`, domain: site(id) })
const posting = ({ id, at }: Thing) => ({
  id,
  job_title: `Job ${id}`,
  company_object: theirstackCompany({ id, at }),
  discovered_at: iso(at),
})
const tweet = ({ id }: Thing) => ({ id: String(id), text: `post ${id}`, author_id: 'u1' })

const TOPICS = { topics: ['crm'] }
const TECHNOLOGIES = { technologies: ['Shopify'] }
const SAVED = { filters: { keywords: ['data'] } }
const DENTISTS = { query: 'dentist', location: 'Berlin' }

/** Returns pages of 25, whatever size is requested. */
const pageOf25 = (things: Thing[], body: Record<string, unknown>) =>
  pageAt(things, Number(body['page']) - 1, 25)

const jobsBy = (slug: string): Account =>
  accountOf(
    { slug, provider: 'theirstack' },
    {},
    (things, seen) => {
      const { page, limit, discovered_at_gte } = jsonOf(seen)
      const found = since(things, discovered_at_gte)
      return {
        json: {
          data: pageAt(found, Number(page), Number(limit)).map(posting),
          metadata: { total_results: found.length },
        },
      }
    },
    { isNamed: true },
  )

const postsBy = (slug: string): Account =>
  accountOf({ slug, provider: 'x' }, { query: 'loam' }, (things, { query }) => {
    const after = Number(query['since_id'] ?? 0)
    const newest = things.toReversed().filter(({ id }) => id > after)
    const { found, next } = slice(newest, query['next_token'], query['max_results'])
    const [first] = found
    return {
      json: {
        data: found.map(tweet),
        includes: { users: [{ id: 'u1', username: 'acme' }] },
        meta: {
          ...(first === undefined ? {} : { newest_id: String(first.id) }),
          ...(next === null ? {} : { next_token: next }),
        },
      },
    }
  })

/** Accounts of all sources that search. */
export const SEARCHES: readonly Account[] = [
  accountOf(
    { slug: 'find_companies', provider: 'apollo' },
    { keywords: ['data'] },
    (things, { query }) => ({
      json: {
        organizations: pageAt(things, Number(query['page']) - 1, Number(query['per_page'])).map(
          apolloCompany,
        ),
        pagination: {
          total_entries: things.length,
          total_pages: Math.ceil(things.length / Number(query['per_page'])),
        },
      },
    }),
    { isNamed: true },
  ),
  accountOf(
    { slug: 'find_companies', provider: 'explorium' },
    { keywords: ['data'] },
    (things, seen) => {
      const { page, page_size } = jsonOf(seen)
      return explorium(things, Number(page), Number(page_size))
    },
    { isNamed: true },
  ),
  accountOf(
    { slug: 'find_companies', provider: 'crustdata' },
    { keywords: ['data'] },
    (things, seen) => {
      const { cursor, limit } = jsonOf(seen)
      const { found, next } = slice(things, cursor, limit)
      return {
        json: { companies: found.map(crustdataCompany), next_cursor: next, total_count: things.length },
      }
    },
    { isNamed: true },
  ),
  accountOf(
    { slug: 'find_companies_by_buying_intent', provider: 'explorium' },
    TOPICS,
    (things, seen) => {
      const { page, page_size } = jsonOf(seen)
      return explorium(things, Number(page), Number(page_size))
    },
    { isNamed: true },
  ),
  accountOf(
    { slug: 'find_companies_by_buying_intent', provider: 'theirstack' },
    TOPICS,
    (things, seen) => {
      const { page, limit } = jsonOf(seen)
      return { json: { data: pageAt(things, Number(page), Number(limit)).map(theirstackCompany) } }
    },
    { isNamed: true },
  ),
  accountOf(
    { slug: 'find_companies_by_tech_stack', provider: 'theirstack' },
    TECHNOLOGIES,
    (things, seen) => {
      const { page, limit } = jsonOf(seen)
      return {
        json: {
          data: pageAt(things, Number(page), Number(limit)).map(theirstackCompany),
          metadata: { total_results: things.length },
        },
      }
    },
    { isNamed: true },
  ),
  accountOf(
    { slug: 'find_companies_by_tech_stack', provider: 'builtwith' },
    TECHNOLOGIES,
    (things, { query }) => {
      const { found, next } = slice(things, query['OFFSET'], 40)
      return { json: { Results: found.map(({ id }) => ({ D: site(id) })), NextOffset: next ?? 'END' } }
    },
    { isNamed: true },
  ),
  accountOf(
    { slug: 'find_companies_from_sales_navigator', provider: 'crustdata' },
    SAVED,
    (things, seen) => ({
      json: { companies: pageOf25(things, jsonOf(seen)).map(savedCompany), total_display_count: '100+' },
    }),
  ),
  accountOf({ slug: 'find_people_from_sales_navigator', provider: 'crustdata' }, SAVED, (things, seen) => ({
    json: {
      profiles: pageOf25(things, jsonOf(seen)).map(crustdataPerson),
      total_display_count: things.length,
    },
  })),
  accountOf(
    { slug: 'find_companies_hiring', provider: 'theirstack' },
    { job_titles: ['engineer'] },
    (things, seen) => {
      const { page, limit } = jsonOf(seen)
      return { json: { data: pageAt(things, Number(page), Number(limit)).map(posting) } }
    },
    { isNamed: true },
  ),
  jobsBy('find_job_postings'),
  jobsBy('track_job_postings'),
  ...['find_job_postings', 'track_job_postings'].map((slug) => ({
    name: `${slug} by boards`,
    slug,
    async open(things: Thing[]) {
      const { body, settings } = await accountOf(
        { slug, provider: 'greenhouse' },
        { boards: ['greenhouse:acme'] },
        () => ({
          json: {
            jobs: things.map(({ id, at }) => ({
              id,
              title: `Job ${id}`,
              absolute_url: `https://boards.example/${id}`,
              updated_at: iso(at),
              first_published: iso(at),
              location: { name: 'Berlin' },
              departments: [],
            })),
          },
        }),
      ).open(things)
      return { body: { ...body, provider: 'built_in' }, settings: { ...settings, fields: null } }
    },
  })),
  {
    ...accountOf(
      { slug: 'find_linkedin_post_reactors', provider: 'apify' },
      { post_url: 'https://www.linkedin.com/posts/acme_hello-activity-1', kinds: ['reactions'] },
      (things, seen) => ({
        json: things
          .slice(0, Number(jsonOf(seen)['maxItems']))
          .map(({ id }) => ({ id: String(id), actor: { id: String(id), name: `Ann ${id}` } })),
      }),
    ),
  },
  {
    ...accountOf(
      { slug: 'track_linkedin_posts', provider: 'apify' },
      { keywords: ['loam'] },
      (things, seen) => {
        const { maxPosts, postedLimitDate } = jsonOf(seen)
        return {
          json: since(things, postedLimitDate)
            .slice(0, Number(maxPosts))
            .map(({ id, at }) => ({ id, content: `post ${id}`, postedAt: { date: iso(at) } })),
        }
      },
    ),
    endsAt100: true as const,
  },
  accountOf(
    { slug: 'find_people', provider: 'apollo' },
    { titles: ['CTO'] },
    (things, seen) => {
      const { page, per_page } = seen.query
      if (seen.path.endsWith('/api_search')) {
        const people = pageAt(things, Number(page) - 1, Number(per_page)).map(({ id }) => ({
          id: String(id),
        }))
        return { json: { people, total_entries: things.length } }
      }
      const { details } = jsonOf(seen) as { details: { id: string }[] }
      return { json: { matches: details.map(({ id }) => ({ id, name: `Ann ${id}` })) } }
    },
    { isNamed: true },
  ),
  accountOf(
    { slug: 'find_people', provider: 'crustdata' },
    { titles: ['CTO'] },
    (things, seen) => {
      const { cursor, limit } = jsonOf(seen)
      const { found, next } = slice(things, cursor, limit)
      return { json: { profiles: found.map(crustdataPerson), next_cursor: next, total_count: things.length } }
    },
    { isNamed: true },
  ),
  accountOf(
    { slug: 'find_people', provider: 'prospeo' },
    { titles: ['CTO'] },
    (things, seen) => ({
      json: {
        results: pageOf25(things, jsonOf(seen)).map(({ id }) => ({
          person: { person_id: id, full_name: `Ann ${id}` },
        })),
        pagination: { total_page: Math.ceil(things.length / 25), total_count: things.length },
      },
    }),
    { isNamed: true },
  ),
  postsBy('search_x_tweets'),
  postsBy('track_x_posts'),
  accountOf(
    { slug: 'search_local_businesses', provider: 'overpass' },
    { query: 'dentist', latitude: 52.5, longitude: 13.4 },
    (things, { query }) => {
      const [, kind = '', after, size] =
        /\((\w+)\[.*\(if:id\(\)>(\d+)\).* asc (\d+);$/.exec(query['data'] ?? '') ?? []
      const behind = kind === 'node' ? things.filter(({ id }) => id > Number(after)) : []
      const elements = behind
        .slice(0, Number(size))
        .map(({ id }) => ({ id, tags: { name: `Dentist ${id}` } }))
      return { json: { elements } }
    },
    { isNamed: true, fields: null },
  ),
  accountOf(
    { slug: 'search_local_businesses', provider: 'google_places' },
    DENTISTS,
    (things, seen) => {
      const { pageToken, pageSize } = jsonOf(seen)
      const { found, next } = slice(things, pageToken, pageSize)
      return {
        json: {
          places: found.map(({ id }) => ({ id: String(id), displayName: { text: `Dentist ${id}` } })),
          ...(next === null ? {} : { nextPageToken: next }),
        },
      }
    },
    { isNamed: true },
  ),
  accountOf(
    { slug: 'search_local_businesses', provider: 'serper' },
    DENTISTS,
    (things, seen) => ({
      json: {
        places: pageAt(things, Number(jsonOf(seen)['page']) - 1, 10).map(({ id }) => ({
          title: `Dentist ${id}`,
          cid: String(id),
        })),
      },
    }),
    { isNamed: true },
  ),
]
