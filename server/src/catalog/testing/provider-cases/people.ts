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
const ACME = { domain: 'acme.com', name: 'Acme', linkedin_url: '' }
const KEY = { 'x-api-key': 'k-0123456789-secret' }
/** The errors of keys, which Datagma reports by numbers. */
const DATAGMA = {
  badKey: { json: { code: 16, message: 'Invalid API key' } },
  quota: { json: { code: 13, message: 'Not enough credits' } },
}

export const PEOPLE = [
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
        website: 'acme.com',
        employee_count: 12,
        location: { name: 'berlin' },
      }),
      value: { name: 'Acme', domain: 'acme.com', employees: 12, hq: 'berlin' },
    },
    nothing: [miss404],
  }),
  caseOf(datagmaWorkEmail, ANN, {
    asks: {
      at: 'GET /api/ingress/v8/findEmail',
      query: { apiId: 'k-0123456789-secret', fullName: 'Ann Lee', company: 'acme.com' },
    },
    hit: { replies: one({ email, smtpCheck: true, cachAll: false }), value: { email } },
    nothing: [
      { replies: one({ email: '' }) },
      { replies: one({ code: 5, message: 'No data found' }) },
      { replies: one({ email, smtpCheck: false }), found: { kind: 'hit', verified: false } },
      { replies: one({ email, smtpCheck: true, cachAll: true }), found: { kind: 'hit', verified: false } },
    ],
    ...DATAGMA,
  }),
  caseOf(datagmaPhone, ANN, {
    asks: { at: 'GET /api/ingress/v1/search', query: { username: ANN.linkedin_url } },
    hit: {
      replies: one({ person: { phones: [{ number: '30123456', countryCode: '49' }] } }),
      value: { phone: '+4930123456' },
    },
    nothing: [
      { replies: one({ person: { phones: [] } }) },
      { replies: one({ person: null }) },
      // A national number alone could belong to somebody in another country.
      { replies: one({ person: { phones: [{ number: '30123456' }] } }) },
      { replies: one({ code: 5, message: 'No data found' }) },
      {
        replies: one({ phones: [{ number: 30123456, displayInternational: '+49 30 123456' }] }),
        found: { kind: 'hit', value: { phone: '+4930123456' } },
      },
    ],
    ...DATAGMA,
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
      json: { enrich_mobile: true, only_verified_mobile: true },
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
