import { anymailfinderWorkEmail } from '../../providers/anymailfinder/work-email.ts'
import { bettercontactPhone } from '../../providers/bettercontact/phone.ts'
import { bettercontactWorkEmail } from '../../providers/bettercontact/work-email.ts'
import { enrowPhone } from '../../providers/enrow/phone.ts'
import { enrowWorkEmail } from '../../providers/enrow/work-email.ts'
import { fullenrichPhone } from '../../providers/fullenrich/phone.ts'
import { fullenrichWorkEmail } from '../../providers/fullenrich/work-email.ts'
import { lushaCompany } from '../../providers/lusha/company.ts'
import { lushaPhone } from '../../providers/lusha/phone.ts'
import { lushaWorkEmail } from '../../providers/lusha/work-email.ts'
import { tombaWorkEmail } from '../../providers/tomba/work-email.ts'
import { caseOf } from './case.ts'
import { ANN } from './work-email.ts'

const SECRET = 'k-0123456789-secret'
const NAMED = { ...ANN, linkedin_url: '' }
const email = 'ann.lee@acme.com'
const number = '+16502530000'
const unverified = { kind: 'hit', verified: false }
const one = (json: unknown) => [{ json }]
const missing = { replies: [{ status: 404, json: { message: 'not found' } }] }
const enriching = { json: { enrichment_id: 'f-1' } }
const notReady = { status: 400, json: { code: 'error.enrichment.in_progress', message: 'try again' } }
const enriched = (contact_info: object, status = 'FINISHED') => ({
  json: { id: 'f-1', status, data: [{ contact_info }] },
})
const probable = (status: string) => enriched({ most_probable_work_email: { email, status } })
const outOfCredits = { status: 402, json: { id: 'f-1', status: 'CREDITS_INSUFFICIENT' } }
const submitted = { status: 201, json: { success: true, id: 'b-1' } }
const terminated = (contact: object) => ({ json: { id: 'b-1', status: 'terminated', data: [contact] } })
const searching = { json: { message: 'Single search operating', id: 'e-1', credits_used: 1 } }
const ongoing = { status: 202, json: { qualification: 'ongoing' } }
const noBalance = { status: 422, json: { message: 'Insufficient balance' } }
const contacts = (contact: object) => one({ requestId: 'r', results: [contact] })

/** The finders that ask others in turn, and those that were added last. */
export const WATERFALL_FINDERS = [
  caseOf(fullenrichWorkEmail, NAMED, {
    asks: {
      at: 'POST /api/v2/contact/enrich/bulk',
      headers: { authorization: `Bearer ${SECRET}` },
      json: {
        data: [
          {
            first_name: 'Ann',
            last_name: 'Lee',
            domain: 'acme.com',
            enrich_fields: ['contact.work_emails'],
          },
        ],
      },
      next: { at: 'GET /api/v2/contact/enrich/bulk/f-1' },
    },
    hit: {
      replies: [enriching, notReady, enriched({}, 'IN_PROGRESS'), probable('DELIVERABLE')],
      value: { email },
    },
    nothing: [
      { replies: [enriching, enriched({})] },
      { replies: [enriching, probable('INVALID')] },
      { replies: [enriching, probable('HIGH_PROBABILITY')], found: unverified },
      {
        replies: [enriching, probable('CATCH_ALL')],
        found: { ...unverified, value: { status: 'catch_all' } },
      },
      { replies: [enriching, outOfCredits], found: { kind: 'no_credits' } },
      { replies: [enriching, enriched({}, 'CREDITS_INSUFFICIENT')], found: { kind: 'no_credits' } },
      { replies: [enriching, enriched({}, 'RATE_LIMIT')], found: { kind: 'rate_limited' } },
      {
        replies: [{ status: 400, json: { code: 'error.enrichment.domain.empty' } }],
        found: { kind: 'ineligible' },
      },
    ],
  }),
  caseOf(fullenrichPhone, ANN, {
    asks: {
      at: 'POST /api/v2/contact/enrich/bulk',
      json: { data: [{ linkedin_url: ANN.linkedin_url, enrich_fields: ['contact.phones'] }] },
    },
    hit: {
      replies: [enriching, enriched({ most_probable_phone: { number: '+1 650-253-0000', region: 'US' } })],
      value: { phone: number },
    },
    nothing: [{ replies: [enriching, enriched({ most_probable_phone: null })] }],
  }),
  caseOf(bettercontactWorkEmail, ANN, {
    asks: {
      at: 'POST /api/v2/async',
      headers: { 'x-api-key': SECRET },
      json: {
        data: [{ first_name: 'Ann', last_name: 'Lee', linkedin_url: ANN.linkedin_url }],
        enrich_email_address: true,
        enrich_phone_number: false,
      },
      next: { at: 'GET /api/v2/async/b-1' },
    },
    hit: {
      replies: [
        submitted,
        { json: { id: 'b-1', status: 'in progress' } },
        terminated({ contact_email_address: email, contact_email_address_status: 'catch_all_safe' }),
      ],
      value: { email },
    },
    nothing: [
      { replies: [submitted, { json: { status: 'terminated', data: [] } }] },
      { replies: [submitted, { json: { status: 'failed' } }], found: { kind: 'error', transient: false } },
      {
        replies: [
          { json: { request_id: 7 } },
          terminated({ contact_email_address: email, contact_email_address_status: 'undeliverable' }),
        ],
      },
      {
        replies: [
          submitted,
          terminated({ contact_email_address: email, contact_email_address_status: 'catch_all_not_safe' }),
        ],
        found: unverified,
      },
    ],
  }),
  caseOf(bettercontactPhone, ANN, {
    asks: { at: 'POST /api/v2/async', json: { enrich_email_address: false, enrich_phone_number: true } },
    hit: {
      replies: [submitted, terminated({ contact_phone_number: '+1 650 253 0000' })],
      value: { phone: number },
    },
    nothing: [{ replies: [submitted, terminated({ contact_phone_number: null })] }],
  }),
  caseOf(enrowWorkEmail, ANN, {
    asks: {
      at: 'POST /email/find/single',
      headers: { 'x-api-key': SECRET },
      json: { fullname: 'Ann Lee', company_domain: 'acme.com' },
      next: { at: 'GET /email/find/single', query: { id: 'e-1' } },
    },
    hit: { replies: [searching, ongoing, { json: { email, qualification: 'valid' } }], value: { email } },
    nothing: [
      { replies: [searching, { json: { qualification: 'invalid' } }] },
      { replies: [{ status: 400, json: { message: 'missing fullname' } }], found: { kind: 'ineligible' } },
    ],
    quota: noBalance,
  }),
  caseOf(enrowPhone, ANN, {
    asks: {
      at: 'POST /phone/single',
      json: { linkedin_url: ANN.linkedin_url },
      next: { at: 'GET /phone/single', query: { id: 'e-1' } },
    },
    hit: {
      replies: [searching, { json: { number, country: 'US', qualification: 'found' } }],
      value: { phone: number },
    },
    nothing: [{ replies: [searching, { json: { qualification: 'not_found' } }] }],
    quota: noBalance,
  }),
  caseOf(lushaWorkEmail, NAMED, {
    asks: {
      at: 'POST /v3/contacts/search-and-enrich',
      headers: { api_key: SECRET },
      json: {
        contacts: [{ firstName: 'Ann', lastName: 'Lee', companyDomain: 'acme.com' }],
        reveal: ['emails'],
      },
    },
    hit: {
      replies: contacts({
        emails: [
          { email: 'ann@gmail.com', type: 'private', confidence: 'A+' },
          { email: 'alee@acme.com', type: 'work', confidence: 'B' },
          { email, type: 'work', confidence: 'A+' },
        ],
      }),
      value: { email },
    },
    nothing: [
      {
        replies: contacts({ error: { code: 'ENRICH_FAILED' } }),
        found: { kind: 'error', transient: true },
      },
      { replies: contacts({ error: { code: 'NOT_FOUND' } }) },
      { replies: contacts({ emails: [{ email: 'ann@gmail.com', type: 'private' }] }) },
      { replies: contacts({ emails: [{ email, type: 'work', confidence: 'C' }] }), found: unverified },
      { replies: [{ status: 451, json: { message: 'GDPR' } }] },
    ],
  }),
  caseOf(lushaPhone, ANN, {
    asks: {
      at: 'POST /v3/contacts/search-and-enrich',
      json: { contacts: [{ linkedinUrl: ANN.linkedin_url }], reveal: ['phones'] },
    },
    hit: {
      replies: contacts({
        phones: [
          { number: '+16502530001', type: 'mobile', doNotCall: true },
          { number: '+16502530002', type: 'work', doNotCall: false },
          { number, type: 'mobile', doNotCall: false },
        ],
      }),
      value: { phone: number, type: 'mobile' },
    },
    nothing: [
      { replies: contacts({ phones: [] }) },
      { replies: contacts({ phones: [{ number, type: 'mobile', doNotCall: true }] }) },
    ],
  }),
  caseOf(
    lushaCompany,
    { domain: 'acme.com', name: 'Acme', linkedin_url: '' },
    {
      asks: { at: 'POST /v3/companies/search-and-enrich', json: { companies: [{ domain: 'acme.com' }] } },
      hit: {
        replies: contacts({
          name: 'Acme',
          domain: 'www.acme.com',
          yearFounded: 1949,
          employeeCount: { exact: 364, min: 201, max: 500 },
          industry: 'Tools',
          location: { city: 'Boston', state: 'Massachusetts', country: 'United States' },
          revenueRange: { min: 1_000_000, max: 5_000_000 },
        }),
        value: {
          name: 'Acme',
          domain: 'acme.com',
          employees: 364,
          founded: 1949,
          revenue_range: '$1,000,000 - $5,000,000',
          hq: 'Boston, Massachusetts, United States',
        },
      },
      nothing: [{ replies: contacts({ error: { code: 'NOT_FOUND' } }) }, { replies: one({ results: [] }) }],
    },
  ),
  caseOf(anymailfinderWorkEmail, ANN, {
    asks: {
      at: 'POST /v5.1/find-email/person',
      headers: { authorization: SECRET },
      json: { full_name: 'Ann Lee', domain: 'acme.com', linkedin_url: ANN.linkedin_url },
    },
    hit: { replies: one({ email, email_status: 'valid', valid_email: email }), value: { email } },
    nothing: [
      missing,
      { replies: one({ email: null, email_status: 'not_found' }) },
      { replies: one({ email: null, email_status: 'blacklisted' }) },
      { replies: one({ email, email_status: 'risky', valid_email: null }), found: unverified },
    ],
  }),
  caseOf(
    tombaWorkEmail,
    ANN,
    {
      asks: {
        at: 'GET /v1/email-finder',
        headers: { 'x-tomba-key': 'ta_1', 'x-tomba-secret': SECRET },
        query: { domain: 'acme.com', first_name: 'Ann', last_name: 'Lee' },
      },
      hit: {
        replies: one({ data: { email, score: 97, verification: { status: 'valid' } } }),
        value: { email, confidence: 0.97 },
      },
      nothing: [
        missing,
        { replies: one({ data: { email: null, score: null } }) },
        { replies: one({ data: { email, score: 60, verification: { status: null } } }), found: unverified },
        {
          replies: [{ status: 400, json: { errors: { type: 'wrong_params', message: 'domain' } } }],
          found: { kind: 'ineligible' },
        },
      ],
      badKey: { status: 400, json: { errors: { type: 'authentication_failed', code: 400 } } },
    },
    { key: 'ta_1', secret: SECRET },
  ),
]
