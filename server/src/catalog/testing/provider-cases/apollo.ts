import { apolloCompany } from '../../providers/apollo/company.ts'
import { apolloPeople } from '../../providers/apollo/people.ts'
import { apolloPerson } from '../../providers/apollo/person.ts'
import { apolloWorkEmail } from '../../providers/apollo/work-email.ts'
import { caseOf } from './case.ts'
import { ANN } from './work-email.ts'

const one = (json: object) => [{ json }]
const email = 'ann.lee@acme.com'
const match = (more: object) => ({ person: { id: '1', name: 'Ann Lee', email, ...more } })
const KEY = { 'x-api-key': 'k-0123456789-secret' }
const masked = (id: string) => ({
  id,
  first_name: 'Ann',
  last_name_obfuscated: 'Le***e',
  title: 'CTO',
  organization: { name: 'Acme' },
})
const searched = (...ids: string[]) => ({ json: { people: ids.map(masked), total_entries: 7 } })
const noCredits = { status: 422, json: { error: 'You have insufficient credits' } }
/** The reply to a bad key, which has status 200 at the path of the probe. */
const notLoggedIn = { json: { healthy: true, is_logged_in: false } }

export const APOLLO = [
  caseOf(apolloWorkEmail, ANN, {
    asks: {
      at: 'POST /api/v1/people/match',
      headers: KEY,
      query: { name: 'Ann Lee', domain: 'acme.com', linkedin_url: ANN.linkedin_url },
    },
    hit: { replies: one(match({ email_status: 'verified' })), value: { email } },
    nothing: [
      { replies: one({ person: null }) },
      { replies: one(match({ email: 'email_not_unlocked@domain.com', email_status: 'unavailable' })) },
      { replies: one(match({ email_status: 'bounced' })) },
      { replies: one(match({ email_status: 'unavailable' })) },
      { replies: one(match({ email_status: 'guessed' })), found: { kind: 'hit', verified: false } },
    ],
    badKey: notLoggedIn,
    quota: noCredits,
  }),
  caseOf(
    apolloPerson,
    { ...ANN, email: '' },
    {
      asks: { at: 'POST /api/v1/people/match', headers: KEY },
      hit: {
        replies: one(
          match({
            title: 'CTO',
            city: 'Berlin',
            country: 'Germany',
            organization: { name: 'Acme' },
            employment_history: [
              { title: 'CTO', organization_name: 'Acme', start_date: '2020-01-01', current: true },
            ],
          }),
        ),
        value: {
          full_name: 'Ann Lee',
          title: 'CTO',
          company: 'Acme',
          location: 'Berlin, Germany',
          experiences: [{ title: 'CTO', company: 'Acme', start: '2020-01-01', end: null, current: true }],
        },
      },
      nothing: [{ replies: one({ person: null }) }],
    },
  ),
  caseOf(
    apolloCompany,
    { domain: 'acme.com', name: 'Acme', linkedin_url: '' },
    {
      asks: { at: 'GET /api/v1/organizations/enrich', headers: KEY, query: { domain: 'acme.com' } },
      hit: {
        replies: one({
          organization: {
            name: 'Acme',
            website_url: 'http://www.acme.com',
            industry: 'tools',
            estimated_num_employees: 120,
            founded_year: 1949,
            city: 'Fairfield',
            country: 'United States',
          },
        }),
        value: {
          name: 'Acme',
          domain: 'acme.com',
          employees: 120,
          founded: 1949,
          hq: 'Fairfield, United States',
          ticker: null,
        },
      },
      nothing: [{ replies: one({ organization: null }) }, { replies: one({}) }],
    },
  ),
  caseOf(
    apolloPeople,
    { domain: 'acme.com', titles: ['CTO', 'CEO'], seniority: [], limit: 3 },
    {
      asks: {
        at: 'POST /api/v1/mixed_people/api_search',
        headers: KEY,
        query: {
          'q_organization_domains_list[]': 'acme.com',
          'person_titles[]': 'CEO',
          page: '1',
          per_page: '3',
        },
        next: {
          at: 'POST /api/v1/people/bulk_match',
          headers: KEY,
          json: { details: [{ id: 'p1' }, { id: 'p2' }, { id: 'p3' }] },
        },
      },
      hit: {
        replies: [
          searched('p1', 'p2', 'p3'),
          {
            json: {
              matches: [
                {
                  id: 'p1',
                  name: 'Ann Lee',
                  title: 'CTO',
                  city: 'Berlin',
                  country: 'Germany',
                  linkedin_url: ANN.linkedin_url,
                  organization: { name: 'Acme' },
                },
                null,
                { id: 'p3', name: 'Bob R***y', title: 'CEO' },
              ],
            },
          },
          searched(),
        ],
        value: {
          count: 7,
          people: [
            {
              full_name: 'Ann Lee',
              title: 'CTO',
              company: 'Acme',
              location: 'Berlin, Germany',
              linkedin_url: ANN.linkedin_url,
              id: 'p1',
            },
          ],
        },
      },
      nothing: [
        { replies: [{ json: { people: [], total_entries: 0 } }] },
        { replies: [searched('p1'), { json: { matches: [null] } }] },
        { replies: [searched('p1'), noCredits], found: { kind: 'no_credits' } },
      ],
      badKey: notLoggedIn,
      quota: noCredits,
    },
  ),
]
