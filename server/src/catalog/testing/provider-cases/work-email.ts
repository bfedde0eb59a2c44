import { blitzWorkEmail } from '../../providers/blitz/work-email.ts'
import { dropcontactWorkEmail } from '../../providers/dropcontact/work-email.ts'
import { hunterWorkEmail } from '../../providers/hunter/work-email.ts'
import { icypeasWorkEmail } from '../../providers/icypeas/work-email.ts'
import { leadmagicWorkEmail } from '../../providers/leadmagic/work-email.ts'
import { prospeoWorkEmail } from '../../providers/prospeo/work-email.ts'
import { snovWorkEmail } from '../../providers/snov/work-email.ts'
import { wizaWorkEmail } from '../../providers/wiza/work-email.ts'
import { caseOf } from './case.ts'

export const ANN = {
  full_name: 'Ann Lee',
  first_name: 'Ann',
  last_name: 'Lee',
  domain: 'acme.com',
  linkedin_url: 'https://www.linkedin.com/in/annlee',
}
const email = 'ann.lee@acme.com'
const noMatch = { status: 400, json: { error: true, error_code: 'NO_MATCH' } }
const masked = {
  error: false,
  person: { email: { email: 'a**@acme.com', status: 'VERIFIED', revealed: true } },
}
const hidden = { error: false, person: { email: { email, status: 'VERIFIED', revealed: false } } }
const started = { json: { data: { task_hash: 'h-1' }, meta: {} } }
const results = (...result: object[]) => ({
  json: { status: 'completed', data: [{ people: 'Ann Lee', result }] },
})
const revealed = (data: object) => ({ json: { status: { code: 200 }, data: { id: 7, ...data } } })
const requested = { json: { success: true, error: false, request_id: 'r-1', credits_left: 9 } }
const enriched = (...emails: object[]) => ({
  json: { success: true, error: false, data: [{ email: emails }] },
})
const searching = { json: { success: true, item: { _id: 's-1', status: 'NONE' } } }
const searched = (status: string, ...emails: object[]) => ({
  json: { success: true, items: [{ _id: 's-1', status, results: { emails } }] },
})

export const WORK_EMAIL = [
  caseOf(hunterWorkEmail, ANN, {
    asks: {
      at: 'GET /v2/email-finder',
      headers: { 'x-api-key': 'k-0123456789-secret' },
      query: { domain: 'acme.com', full_name: 'Ann Lee' },
    },
    hit: {
      replies: [
        { status: 202, json: { meta: { params: {} } } },
        { json: { data: { email, score: 97, verification: { date: '2024-01-01', status: 'valid' } } } },
      ],
      value: { email, confidence: 0.97 },
    },
    nothing: [
      { replies: [{ json: { data: { email: null, score: null, verification: null } } }] },
      { replies: [{ status: 404, json: { errors: [{ id: 'not_found' }] } }] },
      { replies: [{ status: 451, json: { errors: [{ id: 'claimed_email' }] } }] },
      {
        replies: [{ status: 400, json: { errors: [{ id: 'invalid_domain' }] } }],
        found: { kind: 'ineligible' },
      },
      {
        replies: [{ status: 400, json: { errors: [{ id: 'wrong_params' }] } }],
        found: { kind: 'ineligible' },
      },
      {
        replies: [{ json: { data: { email, score: 60, verification: { status: 'accept_all' } } } }],
        found: { kind: 'hit', verified: false },
      },
    ],
    quota: { status: 429, json: { errors: [{ id: 'usage_limit' }] } },
  }),
  caseOf(prospeoWorkEmail, ANN, {
    asks: {
      at: 'POST /enrich-person',
      headers: { 'x-key': 'k-0123456789-secret' },
      json: {
        only_verified_email: true,
        data: {
          full_name: 'Ann Lee',
          company_website: 'acme.com',
          linkedin_url: 'https://www.linkedin.com/in/annlee',
        },
      },
    },
    hit: {
      replies: [{ json: { error: false, person: { email: { email, status: 'VERIFIED', revealed: true } } } }],
      value: { email },
    },
    nothing: [
      { replies: [noMatch] },
      { replies: [{ json: masked }] },
      { replies: [{ json: hidden }] },
      { replies: [{ json: { error: false, person: { email: null } } }] },
    ],
    badKey: { status: 400, json: { error: true, error_code: 'INVALID_API_KEY' } },
    quota: { status: 400, json: { error: true, error_code: 'INSUFFICIENT_CREDITS' } },
  }),
  caseOf(leadmagicWorkEmail, ANN, {
    asks: {
      at: 'POST /v1/people/email-finder',
      headers: { 'x-api-key': 'k-0123456789-secret' },
      json: { first_name: 'Ann', last_name: 'Lee', domain: 'acme.com' },
    },
    hit: { replies: [{ json: { email, status: 'valid', credits_consumed: 1 } }], value: { email } },
    nothing: [
      { replies: [{ json: { email: null, status: 'not_found', credits_consumed: 0 } }] },
      { replies: [{ status: 404, json: { message: 'Email not found.' } }] },
      { replies: [{ json: { email, status: 'catch_all' } }], found: { kind: 'hit', verified: false } },
      { replies: [{ json: { email, status: 'valid_catch_all' } }], found: { kind: 'hit', verified: true } },
    ],
  }),
  caseOf(
    snovWorkEmail,
    ANN,
    {
      asks: {
        at: 'POST /v2/emails-by-domain-by-name/start',
        headers: { authorization: 'Bearer token of k-0123456789-secret' },
        json: { rows: [{ first_name: 'Ann', last_name: 'Lee', domain: 'acme.com' }] },
      },
      hit: {
        replies: [
          started,
          { json: { status: 'in_progress', data: [] } },
          results({ email: 'alee@acme.com', smtp_status: 'unknown' }, { email, smtp_status: 'valid' }),
        ],
        value: { email },
      },
      nothing: [
        { replies: [started, results()] },
        { replies: [started, { json: { status: 'completed', data: [] } }] },
        {
          replies: [{ json: { task_hash: 'h-2' } }, results({ email, smtp_status: 'unknown' })],
          found: { kind: 'hit', verified: false },
        },
        { replies: [started, results({ email, smtp_status: 'not_valid' })] },
        {
          replies: [started, { json: { status: 'not_enough_credits' } }],
          found: { kind: 'no_credits' },
        },
      ],
    },
    { client_id: 'id-1', client_secret: 'k-0123456789-secret' },
  ),
  caseOf(blitzWorkEmail, ANN, {
    asks: {
      at: 'POST /v2/enrichment/email',
      headers: { 'x-api-key': 'k-0123456789-secret' },
      json: { person_linkedin_url: ANN.linkedin_url },
    },
    hit: { replies: [{ json: { found: true, email, all_emails: [{ email }] } }], value: { email } },
    nothing: [
      { replies: [{ json: { found: false, email: null, all_emails: [] } }] },
      { replies: [{ status: 404, json: { message: 'not found' } }] },
    ],
  }),
  caseOf(wizaWorkEmail, ANN, {
    asks: {
      at: 'POST /api/individual_reveals',
      headers: { authorization: 'Bearer k-0123456789-secret' },
      json: {
        individual_reveal: { profile_url: ANN.linkedin_url },
        enrichment_level: 'partial',
        email_options: { accept_work: true, accept_personal: false },
      },
      next: { at: 'GET /api/individual_reveals/7' },
    },
    hit: {
      replies: [
        revealed({ status: 'queued' }),
        revealed({ status: 'finished', is_complete: true, email, email_status: 'valid' }),
      ],
      value: { email },
    },
    nothing: [
      {
        replies: [revealed({ status: 'finished', is_complete: true, email: null, email_status: 'unfound' })],
      },
      { replies: [revealed({ status: 'failed', is_complete: true, fail_error: 'profile_not_found' })] },
      {
        replies: [revealed({ status: 'failed', fail_error: 'insufficient_credits' })],
        found: { kind: 'no_credits' },
      },
      {
        replies: [revealed({ is_complete: true, email, email_status: 'risky' })],
        found: { kind: 'hit', verified: false },
      },
    ],
  }),
  caseOf(dropcontactWorkEmail, ANN, {
    asks: {
      at: 'POST /v1/enrich/all',
      headers: { 'x-access-token': 'k-0123456789-secret' },
      json: { data: [{ full_name: 'Ann Lee', website: 'acme.com', linkedin: ANN.linkedin_url }] },
      next: { at: 'GET /v1/enrich/all/r-1' },
    },
    hit: {
      replies: [
        requested,
        { json: { success: false, error: false, reason: 'Request not ready yet, try again in 30 seconds' } },
        enriched(
          { email: 'ann@gmail.com', qualification: 'nominative@perso' },
          { email, qualification: 'nominative@pro' },
        ),
      ],
      value: { email },
    },
    nothing: [
      { replies: [requested, enriched()] },
      { replies: [requested, { json: { success: true, error: false, data: [{}] } }] },
      { replies: [requested, enriched({ email, qualification: 'invalid@pro' })] },
      {
        replies: [requested, { json: { success: false, error: true, reason: 'Server error' } }],
        found: { kind: 'error' },
      },
      {
        replies: [requested, enriched({ email, qualification: 'catch_all@pro' })],
        found: { kind: 'hit', verified: false },
      },
    ],
    quota: { status: 403, json: { error: true, reason: 'Not enough credits' } },
  }),
  caseOf(icypeasWorkEmail, ANN, {
    asks: {
      at: 'POST /api/email-search',
      headers: { authorization: 'k-0123456789-secret' },
      json: { firstname: 'Ann', lastname: 'Lee', domainOrCompany: 'acme.com' },
      next: { at: 'POST /api/bulk-single-searchs/read', json: { id: 's-1' } },
    },
    hit: {
      replies: [
        searching,
        searched('SCHEDULED'),
        searched('DEBITED', { email, certainty: 'ultra_sure', mxProvider: 'google' }),
      ],
      value: { email, confidence: 0.99 },
    },
    nothing: [
      { replies: [searching, searched('NOT_FOUND')] },
      { replies: [searching, searched('INSUFFICIENT_FUNDS')], found: { kind: 'no_credits' } },
      {
        replies: [{ json: { success: false, validationErrors: [{ message: 'bad' }] } }],
        found: { kind: 'ineligible' },
      },
      {
        replies: [searching, searched('FOUND', { email, certainty: 'probable' })],
        found: { kind: 'hit', verified: true },
      },
      { replies: [searching, searched('NOT_FOUND', { email: null, certainty: 'not_found' })] },
    ],
  }),
]
