import { expect, it } from 'vitest'
import { loadSources } from './registry.ts'

/** The slugs: part 2 of the specification with the names of D2, and the three that D2 adds. */
const SLUGS = [
  'extract_from_website',
  'find_companies',
  'find_companies_by_buying_intent',
  'find_companies_by_tech_stack',
  'find_companies_from_sales_navigator',
  'find_companies_hiring',
  'find_job_postings',
  'find_linkedin_post_reactors',
  'find_people',
  'find_people_from_sales_navigator',
  ...[
    'hubspot',
    'salesforce',
    'pipedrive',
    'attio',
    'google_sheets',
    'snowflake',
    'slack',
    'typeform',
    'fireflies',
  ].map((system) => `import_from_${system}`),
  'import_from_postgres',
  'import_from_airtable',
  'import_from_notion',
  'search_local_businesses',
  'search_x_tweets',
  'track_job_postings',
  'track_linkedin_posts',
  'track_personal_website_visitors',
  'track_website_visitors',
  'track_x_posts',
]

it('every type slug of part 2 is served', async () => {
  const sources = await loadSources()
  expect(SLUGS).toHaveLength(29)
  expect(SLUGS.filter((slug) => sources.get(slug) === undefined)).toEqual([])
})
