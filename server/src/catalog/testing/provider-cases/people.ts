import { apolloCompany } from '../../providers/apollo/company.ts'
import { apolloPeople } from '../../providers/apollo/people.ts'
import { apolloPerson } from '../../providers/apollo/person.ts'
import { apolloWorkEmail } from '../../providers/apollo/work-email.ts'
import { datagmaPhone } from '../../providers/datagma/phone.ts'
import { datagmaWorkEmail } from '../../providers/datagma/work-email.ts'
import { leadmagicPhone } from '../../providers/leadmagic/phone.ts'
import { peopledatalabsCompany } from '../../providers/peopledatalabs/company.ts'
import { peopledatalabsPerson } from '../../providers/peopledatalabs/person.ts'
import { prospeoPhone } from '../../providers/prospeo/phone.ts'
import { caseOf } from './case.ts'
import { ANN } from './work-email.ts'

const one = (json: object) => [{ json }]
const miss404 = { replies: [{ status: 404, json: { status: 404, error: { type: 'not_found' } } }] }
const email = 'ann.lee@acme.com'
const match = (more: object) => ({ person: { id: '1', name: 'Ann Lee', email, ...more } })
const ACME = { domain: 'acme.com', name: 'Acme', linkedin_url: '' }
const KEY = { 'x-api-key': 'k-0123456789-secret' }

export const PEOPLE = [
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
      { replies: one(match({ email_status: 'guessed' })), found: { kind: 'hit', verified: false } },
    ],
    quota: { status: 422, json: { error: 'You have insufficient credits' } },
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
  caseOf(apolloCompany, ACME, {
    asks: { at: 'GET /api/v1/organizations/enrich', headers: KEY, query: { domain: 'acme.com' } },
    hit: {
      replies: one({
        organization: {
          name: 'Acme',
          industry: 'tools',
          estimated_num_employees: 120,
          founded_year: 1949,
          city: 'Fairfield',
          country: 'United States',
        },
      }),
      value: { name: 'Acme', employees: 120, founded: 1949, hq: 'Fairfield, United States', ticker: null },
    },
    nothing: [{ replies: one({ organization: null }) }, { replies: one({}) }],
  }),
  caseOf(
    apolloPeople,
    { domain: 'acme.com', titles: ['CTO', 'CEO'], seniority: [], limit: 2 },
    {
      asks: {
        at: 'POST /api/v1/mixed_people/api_search',
        headers: KEY,
        query: {
          'q_organization_domains_list[]': 'acme.com',
          'person_titles[]': 'CEO',
          page: '1',
          per_page: '2',
        },
      },
      hit: {
        replies: one({
          people: [
            { id: 'p1', name: 'Ann Lee', title: 'CTO', organization: { name: 'Acme' } },
            { id: 'p2', first_name: 'Bob', last_name: 'Ray', title: 'CEO' },
          ],
          total_entries: 7,
        }),
        value: {
          count: 7,
          people: [
            {
              full_name: 'Ann Lee',
              title: 'CTO',
              company: 'Acme',
              location: null,
              linkedin_url: null,
              id: 'p1',
            },
            {
              full_name: 'Bob Ray',
              title: 'CEO',
              company: null,
              location: null,
              linkedin_url: null,
              id: 'p2',
            },
          ],
        },
      },
      nothing: [{ replies: one({ people: [], total_entries: 0 }) }],
    },
  ),
  caseOf(
    peopledatalabsPerson,
    { ...ANN, email: '' },
    {
      asks: {
        at: 'GET /v5/person/enrich',
        headers: KEY,
        query: { profile: ANN.linkedin_url, name: 'Ann Lee', company: 'acme.com' },
      },
      hit: {
        replies: one({
          status: 200,
          likelihood: 9,
          data: {
            full_name: 'ann lee',
            job_title: 'cto',
            linkedin_url: 'linkedin.com/in/annlee',
            experience: [
              { title: { name: 'cto' }, company: { name: 'acme' }, start_date: '2020', is_primary: true },
            ],
            education: [{ school: { name: 'mit' }, degrees: ['bsc', 'msc'] }],
          },
        }),
        value: {
          full_name: 'ann lee',
          linkedin_url: 'https://linkedin.com/in/annlee',
          education: [{ school: 'mit', degree: 'bsc, msc', start: null, end: null }],
        },
      },
      nothing: [miss404],
    },
  ),
  caseOf(peopledatalabsCompany, ACME, {
    asks: { at: 'GET /v5/company/enrich', headers: KEY, query: { website: 'acme.com', name: 'Acme' } },
    hit: {
      replies: one({
        status: 200,
        name: 'acme',
        display_name: 'Acme',
        employee_count: 12,
        location: { name: 'berlin' },
      }),
      value: { name: 'Acme', employees: 12, hq: 'berlin' },
    },
    nothing: [miss404],
  }),
  caseOf(datagmaWorkEmail, ANN, {
    asks: {
      at: 'GET /api/ingress/v8/findEmail',
      query: { apiId: 'k-0123456789-secret', fullName: 'Ann Lee', company: 'acme.com' },
    },
    hit: { replies: one({ email, smtpCheck: true }), value: { email } },
    nothing: [
      { replies: one({ email: '' }) },
      { replies: one({ email, smtpCheck: false }), found: { kind: 'hit', verified: false } },
    ],
  }),
  caseOf(datagmaPhone, ANN, {
    asks: { at: 'GET /api/ingress/v1/search', query: { username: ANN.linkedin_url } },
    hit: {
      replies: one({ person: { phones: [{ number: '4930123456', displayInternational: '+49 30 123456' }] } }),
      value: { phone: '+4930123456' },
    },
    nothing: [{ replies: one({ person: { phones: [] } }) }, { replies: one({ person: null }) }],
  }),
  caseOf(leadmagicPhone, ANN, {
    asks: { at: 'POST /v1/people/mobile-finder', headers: KEY, json: { profile_url: ANN.linkedin_url } },
    hit: {
      replies: one({ mobile_number: '+1 650 253 0000' }),
      value: { phone: '+16502530000', type: 'mobile' },
    },
    nothing: [
      { replies: one({ mobile_number: null, message: 'Mobile not found' }) },
      { replies: one({ mobile_number: '+1 650 25* ****' }) },
    ],
  }),
  caseOf(prospeoPhone, ANN, {
    asks: {
      at: 'POST /enrich-person',
      headers: { 'x-key': 'k-0123456789-secret' },
      json: { enrich_mobile: true },
    },
    hit: {
      replies: one({ person: { mobile: { mobile_international: '+16502530000', revealed: true } } }),
      value: { phone: '+16502530000' },
    },
    nothing: [
      { replies: [{ status: 400, json: { error: true, error_code: 'NO_MATCH' } }] },
      { replies: one({ person: { mobile: { mobile: '+1650253****', revealed: false } } }) },
    ],
  }),
]
