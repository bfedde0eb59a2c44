import { apifyLinkedinPerson } from '../../providers/apify/linkedin-person.ts'
import { blitzPeople } from '../../providers/blitz/people.ts'
import { prospeoPeople } from '../../providers/prospeo/people.ts'
import { prospeoPerson } from '../../providers/prospeo/person.ts'
import { caseOf } from './case.ts'
import { ANN } from './work-email.ts'

const BEARER = { authorization: 'Bearer k-0123456789-secret' }
const PROSPEO = { 'x-key': 'k-0123456789-secret' }
const one = (json: unknown) => [{ json }]
const EMAIL = { ...ANN, email: '' }
const WANTED = { domain: 'acme.com', titles: ['CTO'], seniority: ['c_suite'], limit: 3 }
const entry = { full_name: 'Ann Lee', title: 'CTO', company: 'Acme', linkedin_url: ANN.linkedin_url }
const refused = (error_code: string) => [{ status: 400, json: { error: true, error_code } }]
const noMatch = { replies: refused('NO_RESULTS') }

export const PROFILES = [
  caseOf(prospeoPerson, EMAIL, {
    asks: {
      at: 'POST /enrich-person',
      headers: PROSPEO,
      json: { data: { full_name: 'Ann Lee', company_website: 'acme.com' } },
    },
    hit: {
      replies: one({
        person: {
          full_name: 'Ann Lee',
          current_job_title: 'CTO',
          location: { city: 'Berlin', country: 'Germany' },
          job_history: [
            { title: 'CTO', company_name: 'Acme', current: true, start_year: 2020, start_month: 3 },
          ],
        },
        company: { name: 'Acme' },
      }),
      value: {
        full_name: 'Ann Lee',
        company: 'Acme',
        location: 'Berlin, Germany',
        experiences: [{ title: 'CTO', company: 'Acme', start: '2020-03', end: null, current: true }],
      },
    },
    nothing: [{ replies: [{ status: 400, json: { error: true, error_code: 'NO_MATCH' } }] }],
    badKey: { status: 400, json: { error: true, error_code: 'INVALID_API_KEY' } },
  }),
  caseOf(prospeoPeople, WANTED, {
    asks: {
      at: 'POST /search-person',
      headers: PROSPEO,
      json: {
        page: 1,
        filters: {
          company: { websites: { include: ['acme.com'] } },
          person_job_title: { include: ['CTO'], match_only_exact_job_titles: false },
          person_seniority: { include: ['C-Suite'] },
        },
      },
    },
    hit: {
      replies: [1, 2].map((page) => ({
        json: {
          results: [
            {
              person: {
                person_id: `p${page}`,
                full_name: 'Ann Lee',
                current_job_title: 'CTO',
                linkedin_url: ANN.linkedin_url,
              },
              company: { name: 'Acme' },
            },
          ],
          pagination: { current_page: page, total_page: 2, total_count: 2 },
        },
      })),
      value: {
        count: 2,
        people: [
          { ...entry, location: null, id: 'p1' },
          { ...entry, location: null, id: 'p2' },
        ],
      },
    },
    nothing: [
      noMatch,
      { replies: one({ results: [] }) },
      { replies: refused('INVALID_FILTERS'), found: { kind: 'ineligible' } },
      { replies: refused('INVALID_REQUEST'), found: { kind: 'ineligible' } },
      { replies: refused('INTERNAL_ERROR'), found: { kind: 'error', transient: true } },
    ],
    quota: { status: 400, json: { error: true, error_code: 'INSUFFICIENT_CREDITS' } },
  }),
  caseOf(blitzPeople, WANTED, {
    asks: {
      at: 'POST /v2/enrichment/domain-to-linkedin',
      headers: { 'x-api-key': 'k-0123456789-secret' },
      json: { domain: 'acme.com' },
      next: {
        at: 'POST /v2/search/people',
        json: {
          company: { linkedin_url: ['https://www.linkedin.com/company/acme'] },
          people: { job_title: { include: ['CTO'] }, job_level: ['C-Team'] },
          max_results: 3,
        },
      },
    },
    hit: {
      replies: [
        { json: { found: true, company_linkedin_url: 'https://www.linkedin.com/company/acme' } },
        {
          json: {
            results: [
              {
                full_name: 'Ann Lee',
                linkedin_url: ANN.linkedin_url,
                location: { city: 'Berlin', country_code: 'DE' },
                experiences: [{ job_title: 'CTO', company_name: 'Acme', job_is_current: true }],
              },
            ],
            total_results: 4,
            cursor: null,
          },
        },
      ],
      value: { count: 4, people: [{ ...entry, location: 'Berlin, DE', id: null }] },
    },
    nothing: [
      { replies: one({ found: false }) },
      { replies: [{ json: { company_linkedin_url: 'x' } }, { json: { results: [] } }] },
      { replies: [{ status: 429 }], found: { kind: 'rate_limited', afterMs: 60_000 } },
    ],
  }),
  caseOf(apifyLinkedinPerson, ANN, {
    asks: {
      at: 'POST /v2/acts/harvestapi~linkedin-profile-scraper/run-sync-get-dataset-items',
      headers: BEARER,
      json: { queries: [ANN.linkedin_url] },
    },
    hit: {
      replies: [
        {
          status: 201,
          json: [
            {
              firstName: 'Ann',
              lastName: 'Lee',
              headline: 'Building',
              location: { linkedinText: 'Berlin' },
              experience: [
                {
                  position: 'CTO',
                  companyName: 'Acme',
                  startDate: { text: 'Jan 2020' },
                  endDate: { text: 'Present' },
                },
              ],
              education: [{ schoolName: 'MIT', degree: 'BSc' }],
            },
          ],
        },
      ],
      value: {
        full_name: 'Ann Lee',
        title: 'CTO',
        company: 'Acme',
        location: 'Berlin',
        headline: 'Building',
      },
    },
    nothing: [{ replies: [{ status: 201, json: [] }] }, { replies: one([{ error: 'not found' }]) }],
  }),
]
