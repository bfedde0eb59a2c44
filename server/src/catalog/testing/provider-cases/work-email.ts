import { findymailWorkEmail } from '../../providers/findymail/work-email.ts'
import { hunterWorkEmail } from '../../providers/hunter/work-email.ts'
import { leadmagicWorkEmail } from '../../providers/leadmagic/work-email.ts'
import { prospeoWorkEmail } from '../../providers/prospeo/work-email.ts'
import { snovWorkEmail } from '../../providers/snov/work-email.ts'
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

export const WORK_EMAIL = [
  caseOf(hunterWorkEmail, ANN, {
    asks: {
      at: 'GET /v2/email-finder',
      headers: { 'x-api-key': 'k-0123456789-secret' },
      query: { domain: 'acme.com', full_name: 'Ann Lee' },
    },
    hit: {
      replies: [
        { json: { data: { email, score: 97, verification: { date: '2024-01-01', status: 'valid' } } } },
      ],
      value: { email, confidence: 0.97 },
    },
    nothing: [
      { replies: [{ json: { data: { email: null, score: null, verification: null } } }] },
      { replies: [{ status: 404, json: { errors: [{ id: 'not_found' }] } }] },
      { replies: [{ status: 451, json: { errors: [{ id: 'claimed_email' }] } }] },
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
    ],
  }),
  caseOf(findymailWorkEmail, ANN, {
    asks: {
      at: 'POST /api/search/name',
      headers: { authorization: 'Bearer k-0123456789-secret' },
      json: { name: 'Ann Lee', domain: 'acme.com' },
    },
    hit: {
      replies: [{ json: { contact: { name: 'Ann Lee', domain: 'acme.com', email: 'Ann.Lee@acme.com' } } }],
      value: { email },
    },
    nothing: [{ replies: [{ json: { contact: null } }] }, { replies: [{ status: 404, json: {} }] }],
    quota: { status: 423, json: { error: 'Subscription is paused' } },
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
      ],
    },
    { client_id: 'id-1', client_secret: 'k-0123456789-secret' },
  ),
]
