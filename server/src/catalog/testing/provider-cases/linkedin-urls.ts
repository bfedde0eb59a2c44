import { datagmaLinkedinUrl } from '../../providers/datagma/linkedin-url.ts'
import { findymailLinkedinUrl } from '../../providers/findymail/linkedin-url.ts'
import { leadmagicLinkedinUrl } from '../../providers/leadmagic/linkedin-url.ts'
import { peopledatalabsLinkedinUrl } from '../../providers/peopledatalabs/linkedin-url.ts'
import { prospeoLinkedinUrl } from '../../providers/prospeo/linkedin-url.ts'
import { caseOf } from './case.ts'

const KEY = { 'x-api-key': 'k-0123456789-secret' }
const EMAIL = { email: 'ann@acme.com', full_name: '', domain: '' }
const NAMED = { email: '', full_name: 'Ann Lee', domain: 'acme.com' }
const value = { linkedin_url: 'https://www.linkedin.com/in/annlee' }
const one = (json: unknown) => [{ json }]
const missing = { replies: [{ status: 404, json: { message: 'not found' } }] }

export const LINKEDIN_URLS = [
  caseOf(findymailLinkedinUrl, EMAIL, {
    asks: {
      at: 'POST /api/search/reverse-email',
      headers: { authorization: 'Bearer k-0123456789-secret' },
      json: { email: 'ann@acme.com' },
    },
    hit: {
      replies: one({ email: 'ann@acme.com', linkedin_url: 'http://de.linkedin.com/in/annlee/en' }),
      value,
    },
    nothing: [
      missing,
      { replies: one({ linkedin_url: null }) },
      // A company's page is not a person's profile.
      { replies: one({ linkedin_url: 'https://www.linkedin.com/company/acme' }) },
    ],
    quota: { status: 423, json: { error: 'Subscription is paused' } },
  }),
  caseOf(datagmaLinkedinUrl, NAMED, {
    asks: {
      at: 'GET /api/ingress/v2/full',
      query: { data: 'Ann Lee', companyKeyword: 'acme.com', personFull: 'false', phoneFull: 'false' },
    },
    hit: { replies: one({ name: 'Ann Lee', linkedInUrl: 'linkedin.com/in/annlee' }), value },
    nothing: [{ replies: one({ name: 'Ann Lee' }) }, { replies: one({ code: 5, message: 'No data found' }) }],
    badKey: { json: { code: 16, message: 'Invalid API key' } },
    quota: { json: { code: 13, message: 'Not enough credits' } },
  }),
  caseOf(prospeoLinkedinUrl, NAMED, {
    asks: {
      at: 'POST /enrich-person',
      headers: { 'x-key': 'k-0123456789-secret' },
      json: { data: { full_name: 'Ann Lee', company_website: 'acme.com' } },
    },
    hit: { replies: one({ error: false, person: { linkedin_url: value.linkedin_url } }), value },
    nothing: [
      { replies: [{ status: 400, json: { error: true, error_code: 'NO_MATCH' } }] },
      { replies: one({ error: false, person: { linkedin_url: null } }) },
    ],
    badKey: { status: 400, json: { error: true, error_code: 'INVALID_API_KEY' } },
    quota: { status: 400, json: { error: true, error_code: 'INSUFFICIENT_CREDITS' } },
  }),
  caseOf(leadmagicLinkedinUrl, EMAIL, {
    asks: { at: 'POST /v1/people/b2b-profile', headers: KEY, json: { work_email: 'ann@acme.com' } },
    hit: { replies: one({ profile_url: 'https://linkedin.com/in/annlee', credits_consumed: 10 }), value },
    nothing: [missing, { replies: one({ profile_url: null, message: 'Profile not found' }) }],
  }),
  caseOf(peopledatalabsLinkedinUrl, NAMED, {
    asks: {
      at: 'GET /v5/person/enrich',
      headers: KEY,
      query: { name: 'Ann Lee', company: 'acme.com', required: 'linkedin_url' },
    },
    hit: { replies: one({ status: 200, data: { linkedin_url: 'linkedin.com/in/annlee' } }), value },
    // Values that a plan hides are `true`.
    nothing: [missing, { replies: one({ status: 200, data: { linkedin_url: true } }) }],
  }),
]
