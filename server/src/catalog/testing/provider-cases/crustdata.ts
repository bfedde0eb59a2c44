import { crustdataCompany } from '../../providers/crustdata/company.ts'
import { crustdataHeadcount } from '../../providers/crustdata/headcount.ts'
import { crustdataLinkedinCompany } from '../../providers/crustdata/linkedin-company.ts'
import { crustdataLinkedinPerson } from '../../providers/crustdata/linkedin-person.ts'
import { crustdataPeople } from '../../providers/crustdata/people.ts'
import { crustdataPerson } from '../../providers/crustdata/person.ts'
import { caseOf } from './case.ts'
import { ANN } from './work-email.ts'

const HEADERS = { authorization: 'Bearer k-0123456789-secret', 'x-api-version': '2025-11-01' }
const ACME = { domain: 'acme.com', name: 'Acme', linkedin_url: '' }
const PAGE = { linkedin_url: 'https://www.linkedin.com/company/acme' }
const JOB = 'experience.employment_details.current'
const COMPANY = {
  crustdata_company_id: 7,
  basic_info: {
    name: 'Acme',
    description: 'Tools.',
    website: 'https://www.acme.com',
    primary_domain: 'acme.com',
    year_founded: '1949-01-01',
    industries: ['Tools'],
    professional_network_url: PAGE.linkedin_url,
  },
  headcount: {
    total: 120,
    by_role_absolute: { engineering: 90, sales: 30 },
    by_role_percent: { engineering: 75, sales: 25 },
    by_region_absolute: { Germany: 100 },
  },
  revenue: { estimated: { lower_bound_usd: 1_000_000, upper_bound_usd: 5_000_000 } },
  locations: { headquarters: 'Berlin, Germany' },
  followers: { count: 77 },
}
const PERSON = {
  crustdata_person_id: 5,
  basic_profile: {
    name: 'Ann Lee',
    headline: 'Building',
    summary: 'I build.',
    current_title: 'CTO',
    location: { full_location: 'Berlin' },
  },
  experience: {
    employment_details: {
      current: [{ title: 'CTO', company_name: 'Acme', start_date: '2020-01-01' }],
      past: [{ title: 'Dev', name: 'Old', start_date: '2015', end_date: '2019' }],
    },
  },
  education: { schools: [{ school: 'MIT', degree: 'BSc', end_year: 2014 }] },
  professional_network: { connections: 500 },
  social_handles: { professional_network_identifier: { profile_url: ANN.linkedin_url } },
}
const matched = (...found: object[]) => [
  { json: [{ matched_on: 'acme.com', matches: found.map((one) => ({ confidence_score: 1, ...one })) }] },
]
const ACME_MATCH = matched(
  { confidence_score: 0.2, company_data: { basic_info: {} } },
  { company_data: COMPANY },
)
const ANN_MATCH = matched({ person_data: PERSON })
/** Wraps the list in an object, as one page of the documentation shows it. */
const wrapped = (replies: { json: unknown }[]) => replies.map(({ json }) => ({ json: { results: json } }))
const noCredits = { status: 403, json: { error: { message: 'Insufficient credits' } } }
const unknown = [
  { replies: matched() },
  { replies: wrapped(matched()) },
  { replies: [{ json: [] }] },
  { replies: [{ status: 404, json: { error: 'not found' } }] },
]
const FIELDS = ['basic_info', 'headcount', 'revenue', 'locations', 'taxonomy', 'followers']

export const CRUSTDATA = [
  caseOf(crustdataCompany, ACME, {
    asks: {
      at: 'POST /company/enrich',
      headers: HEADERS,
      json: { domains: ['acme.com'], fields: FIELDS },
    },
    hit: {
      replies: ACME_MATCH,
      value: {
        name: 'Acme',
        domain: 'acme.com',
        industry: 'Tools',
        employees: 120,
        revenue_range: '$1,000,000 - $5,000,000',
        founded: 1949,
        hq: 'Berlin, Germany',
      },
    },
    nothing: [...unknown, { replies: wrapped(ACME_MATCH), found: { kind: 'hit', value: { name: 'Acme' } } }],
    quota: noCredits,
  }),
  caseOf(
    crustdataHeadcount,
    { ...ACME, domain: '', by: 'job_role' },
    {
      asks: { at: 'POST /company/enrich', headers: HEADERS, json: { names: ['Acme'] } },
      hit: {
        replies: ACME_MATCH,
        value: {
          company_headcount: 120,
          breakdown: [
            { name: 'engineering', employees: 90, percent: 75 },
            { name: 'sales', employees: 30, percent: 25 },
          ],
        },
      },
      nothing: [
        ...unknown,
        { replies: matched({ company_data: { basic_info: { name: 'Acme' } } }) },
        {
          replies: matched({ company_data: { basic_info: { name: 'Acme' }, headcount: { total: 9 } } }),
          found: { kind: 'hit', verified: false, value: { company_headcount: 9, breakdown: [] } },
        },
      ],
      quota: noCredits,
    },
  ),
  caseOf(crustdataLinkedinCompany, PAGE, {
    asks: {
      at: 'POST /company/enrich',
      headers: HEADERS,
      json: { professional_network_profile_urls: [PAGE.linkedin_url] },
    },
    hit: {
      replies: ACME_MATCH,
      value: { name: 'Acme', headcount: 120, hq: 'Berlin, Germany', followers: 77, founded: 1949 },
    },
    nothing: unknown,
    quota: noCredits,
  }),
  caseOf(
    crustdataPerson,
    { ...ANN, linkedin_url: '', email: 'ann@acme.com' },
    {
      asks: { at: 'POST /person/enrich', headers: HEADERS, json: { business_emails: ['ann@acme.com'] } },
      hit: {
        replies: ANN_MATCH,
        value: {
          full_name: 'Ann Lee',
          title: 'CTO',
          company: 'Acme',
          location: 'Berlin',
          linkedin_url: ANN.linkedin_url,
          experiences: [
            { title: 'CTO', company: 'Acme', start: '2020-01-01', end: null, current: true },
            { title: 'Dev', company: 'Old', start: '2015', end: '2019', current: false },
          ],
          education: [{ school: 'MIT', degree: 'BSc', start: null, end: '2014' }],
        },
      },
      nothing: unknown,
      quota: noCredits,
    },
  ),
  caseOf(crustdataLinkedinPerson, ANN, {
    asks: {
      at: 'POST /person/enrich',
      headers: HEADERS,
      json: {
        professional_network_profile_urls: [ANN.linkedin_url],
        fields: ['basic_profile', 'experience', 'education', 'social_handles', 'professional_network'],
      },
    },
    hit: {
      replies: wrapped(ANN_MATCH),
      value: { full_name: 'Ann Lee', headline: 'Building', about: 'I build.', connections: 500 },
    },
    nothing: unknown,
    quota: noCredits,
  }),
  caseOf(
    crustdataPeople,
    { domain: 'acme.com', titles: ['CTO'], seniority: ['c_suite'], limit: 3 },
    {
      asks: {
        at: 'POST /person/search',
        headers: HEADERS,
        json: {
          filters: {
            op: 'and',
            conditions: [
              { field: `${JOB}.company_website_domain`, type: '=', value: 'acme.com' },
              { op: 'or', conditions: [{ field: `${JOB}.title`, type: '(.)', value: 'CTO' }] },
              { field: `${JOB}.seniority_level`, type: 'in', value: ['CXO'] },
            ],
          },
          limit: 3,
        },
        next: { at: 'POST /person/search', json: { cursor: 'c-2' } },
      },
      hit: {
        replies: [
          { json: { profiles: [PERSON], next_cursor: 'c-2', total_count: 9 } },
          { json: { profiles: [], next_cursor: null, total_count: 9 } },
        ],
        value: {
          count: 9,
          people: [
            {
              full_name: 'Ann Lee',
              title: 'CTO',
              company: 'Acme',
              location: 'Berlin',
              linkedin_url: ANN.linkedin_url,
              id: '5',
            },
          ],
        },
      },
      nothing: [{ replies: [{ json: { profiles: [], total_count: 0 } }] }],
      quota: noCredits,
    },
  ),
]
