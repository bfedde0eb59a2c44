import { contactoutWorkEmail } from '../../providers/contactout/work-email.ts'
import { findymailPhone } from '../../providers/findymail/phone.ts'
import { findymailWorkEmail } from '../../providers/findymail/work-email.ts'
import { kasprWorkEmail } from '../../providers/kaspr/work-email.ts'
import { leadmagicWorkEmail } from '../../providers/leadmagic/work-email.ts'
import { peopledatalabsPhone } from '../../providers/peopledatalabs/phone.ts'
import { peopledatalabsWorkEmail } from '../../providers/peopledatalabs/work-email.ts'
import { rocketreachWorkEmail } from '../../providers/rocketreach/work-email.ts'
import { surfeWorkEmail } from '../../providers/surfe/work-email.ts'
import { caseOf } from './case.ts'
import { ANN } from './work-email.ts'

const BEARER = { authorization: 'Bearer k-0123456789-secret' }
const KEY = { 'x-api-key': 'k-0123456789-secret' }
const PROFILE = { ...ANN, full_name: '', first_name: '', last_name: '', domain: '' }
const NAMED = { ...ANN, linkedin_url: '' }
const email = 'ann.lee@acme.com'
const number = '+16502530000'
const unverified = { kind: 'hit', verified: false }
const one = (json: unknown) => [{ json }]
const missing = { replies: [{ status: 404, json: { message: 'not found' } }] }
const started = { status: 202, json: { enrichmentID: 'e-1' } }
const enriched = (...emails: object[]) => ({ json: { status: 'COMPLETED', people: [{ emails }] } })
const paused = { status: 423, json: { error: 'Subscription is paused' } }

/** The providers that find addresses and numbers only if they are named. */
export const CONTACTS = [
  caseOf(findymailWorkEmail, PROFILE, {
    asks: {
      at: 'POST /api/search/business-profile',
      headers: BEARER,
      json: { linkedin_url: ANN.linkedin_url },
    },
    hit: { replies: one({ contact: { name: 'Ann Lee', email } }), value: { email } },
    nothing: [missing, { replies: one({ contact: null }) }],
    quota: paused,
  }),
  caseOf(findymailWorkEmail, NAMED, {
    asks: {
      at: 'POST /api/search/name',
      headers: BEARER,
      json: { name: 'Ann Lee', domain: 'acme.com' },
    },
    hit: { replies: one({ contact: { name: 'Ann Lee', email: 'Ann.Lee@acme.com' } }), value: { email } },
    nothing: [missing],
    quota: paused,
  }),
  caseOf(findymailPhone, ANN, {
    asks: { at: 'POST /api/search/phone', headers: BEARER, json: { linkedin_url: ANN.linkedin_url } },
    hit: { replies: one({ phone: number, line_type: 'mobile' }), value: { phone: number, type: 'mobile' } },
    nothing: [missing, { replies: one({ phone: null }) }, { replies: one({ phone: '+1 650 25* ****' }) }],
    quota: paused,
  }),
  caseOf(leadmagicWorkEmail, PROFILE, {
    asks: {
      at: 'POST /v1/people/b2b-profile-email',
      headers: KEY,
      json: { profile_url: ANN.linkedin_url },
    },
    hit: { replies: one({ email, credits_consumed: 5 }), value: { email }, verified: false },
    nothing: [missing, { replies: one({ email: null, message: 'Email not found' }) }],
  }),
  caseOf(peopledatalabsWorkEmail, ANN, {
    asks: {
      at: 'GET /v5/person/enrich',
      headers: KEY,
      query: { profile: ANN.linkedin_url, required: 'work_email', min_likelihood: '6' },
    },
    hit: { replies: one({ data: { work_email: email } }), value: { email }, verified: false },
    nothing: [
      missing,
      { replies: one({ data: { work_email: true } }) },
      { replies: one({ data: { work_email: null } }) },
    ],
  }),
  caseOf(peopledatalabsPhone, ANN, {
    asks: { at: 'GET /v5/person/enrich', query: { required: 'mobile_phone OR phone_numbers' } },
    hit: {
      replies: one({ data: { mobile_phone: number, phone_numbers: [number] } }),
      value: { phone: number, type: 'mobile' },
    },
    nothing: [
      missing,
      { replies: one({ data: { mobile_phone: true, phone_numbers: true } }) },
      {
        replies: one({ data: { mobile_phone: null, phone_numbers: [number] } }),
        found: { kind: 'hit', value: { phone: number, type: null } },
      },
    ],
  }),
  caseOf(contactoutWorkEmail, ANN, {
    asks: {
      at: 'POST /v1/people/enrich',
      headers: { token: 'k-0123456789-secret' },
      json: { linkedin_url: ANN.linkedin_url, include: ['work_email'] },
    },
    hit: {
      replies: one({
        status_code: 200,
        profile: {
          work_email: ['alee@acme.com', email],
          work_email_status: { 'alee@acme.com': 'Unverified', [email]: 'Verified' },
        },
      }),
      value: { email },
    },
    nothing: [
      missing,
      { replies: one({ profile: [] }) },
      { replies: one({ profile: { work_email: [], work_email_status: [] } }) },
      { replies: one({ profile: { work_email: [email] } }), found: unverified },
    ],
    quota: { status: 403, json: { message: 'You have used all your credits' } },
  }),
  caseOf(rocketreachWorkEmail, NAMED, {
    asks: {
      at: 'GET /api/v2/person/lookup',
      headers: { 'api-key': 'k-0123456789-secret' },
      query: { name: 'Ann Lee', current_employer: 'acme.com', lookup_type: 'standard' },
      next: { at: 'GET /api/v2/person/checkStatus', query: { ids: '5262' } },
    },
    hit: {
      replies: [
        { json: { id: 5262, status: 'searching' } },
        {
          json: [
            {
              id: 5262,
              status: 'complete',
              emails: [
                { email: 'ann@gmail.com', type: 'personal', smtp_valid: 'valid' },
                { email, type: 'professional', smtp_valid: 'valid' },
              ],
            },
          ],
        },
      ],
      value: { email },
    },
    nothing: [
      missing,
      {
        replies: one({
          id: 5262,
          status: 'complete',
          emails: [{ email: 'x@tempmail.com', type: 'disposable', smtp_valid: 'valid' }],
        }),
      },
      { replies: one({ id: 5262, status: 'failed' }) },
      {
        replies: one({
          id: 5262,
          status: 'complete',
          emails: [{ email, type: 'professional', smtp_valid: 'invalid' }],
        }),
      },
      {
        replies: one({
          id: 5262,
          status: 'complete',
          emails: [{ email, type: 'professional', smtp_valid: 'inconclusive' }],
        }),
        found: unverified,
      },
    ],
  }),
  caseOf(surfeWorkEmail, ANN, {
    asks: {
      at: 'POST /v2/people/enrich',
      headers: BEARER,
      json: {
        include: { email: true, mobile: false },
        enrichmentOptions: { acceptedEmailType: 'professional' },
        people: [{ linkedinUrl: ANN.linkedin_url }],
      },
      next: { at: 'GET /v2/people/enrich/e-1' },
    },
    hit: {
      replies: [
        started,
        { json: { status: 'IN_PROGRESS' } },
        enriched({ email: 'alee@acme.com', validationStatus: 'RISKY' }, { email, validationStatus: 'VALID' }),
      ],
      value: { email },
    },
    nothing: [
      { replies: [started, enriched()] },
      { replies: [started, { json: { status: 'FAILED' } }] },
      { replies: [started, enriched({ email, validationStatus: 'CATCH_ALL' })], found: unverified },
    ],
    quota: { status: 403, json: { message: 'quota exceeded' } },
  }),
  caseOf(kasprWorkEmail, ANN, {
    asks: {
      at: 'POST /profile/linkedin',
      headers: { ...BEARER, 'accept-version': 'v2.0' },
      json: { id: 'annlee', dataToGet: ['workEmail'], requiredData: ['workEmail'] },
    },
    hit: {
      replies: one({ profile: { starryWorkEmail: email, workEmails: [email] } }),
      value: { email },
      verified: false,
    },
    nothing: [
      { replies: one({ profile: { workEmails: [] } }) },
      { replies: [{ text: '' }] },
      { replies: one({ profile: { professionalEmails: [email] } }), found: unverified },
      { replies: one({ profile: { starryProfessionalEmail: email } }), found: unverified },
    ],
    quota: { json: { message: 'No credits left' } },
  }),
]
