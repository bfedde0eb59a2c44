import { findymailVerification } from '../../providers/findymail/verification.ts'
import { hunterVerification } from '../../providers/hunter/verification.ts'
import { icypeasVerification } from '../../providers/icypeas/verification.ts'
import { leadmagicVerification } from '../../providers/leadmagic/verification.ts'
import { millionverifierVerification } from '../../providers/millionverifier/verification.ts'
import { neverbounceVerification } from '../../providers/neverbounce/verification.ts'
import { zerobounceVerification } from '../../providers/zerobounce/verification.ts'
import { caseOf } from './case.ts'

const ADDRESS = { email: 'ann.lee@acme.com' }
const verifiedAs = (status: string) => ({ kind: 'hit', verified: true, value: { status } })
/** The result of an unknown verdict, which is free. */
const unknown = { kind: 'hit', verified: false, free: true, value: { status: 'unknown' } }
const one = (json: object) => [{ json }]
const searching = { json: { success: true, item: { _id: 's-1', status: 'NONE' } } }
const searched = (status: string, certainty?: string) => ({
  json: {
    success: true,
    items: [
      {
        _id: 's-1',
        status,
        ...(certainty === undefined ? {} : { results: { emails: [{ ...ADDRESS, certainty }] } }),
      },
    ],
  },
})

export const VERIFICATION = [
  caseOf(hunterVerification, ADDRESS, {
    asks: {
      at: 'GET /v2/email-verifier',
      headers: { 'x-api-key': 'k-0123456789-secret' },
      query: ADDRESS,
    },
    hit: {
      replies: [{ status: 202, json: {} }, { json: { data: { status: 'valid', score: 100 } } }],
      value: { status: 'valid' },
    },
    nothing: [
      { replies: one({ data: { status: 'unknown' } }), found: unknown },
      { replies: one({ data: { status: 'accept_all' } }), found: verifiedAs('catch_all') },
      {
        replies: one({ data: { status: 'webmail', smtp_check: true, score: 92 } }),
        found: verifiedAs('valid'),
      },
      { replies: one({ data: { status: 'webmail', smtp_check: true, score: 40 } }), found: unknown },
      { replies: one({ data: { status: 'webmail', smtp_check: false, score: 92 } }), found: unknown },
    ],
    quota: { status: 429, json: { errors: [{ id: 'usage_limit' }] } },
  }),
  caseOf(zerobounceVerification, ADDRESS, {
    asks: { at: 'GET /v2/validate', query: { api_key: 'k-0123456789-secret', ...ADDRESS } },
    hit: {
      replies: one({ address: ADDRESS.email, status: 'valid', sub_status: '', mx_record: 'mx.acme.com' }),
      value: { status: 'valid', mx: 'mx.acme.com', reason: null },
    },
    nothing: [
      { replies: one({ status: 'unknown', sub_status: 'timeout_exceeded' }), found: unknown },
      { replies: one({ status: 'invalid', sub_status: 'mailbox_not_found' }), found: verifiedAs('invalid') },
      { replies: one({ status: 'catch-all', sub_status: '' }), found: verifiedAs('catch_all') },
      { replies: one({ status: 'do_not_mail', sub_status: 'disposable' }), found: verifiedAs('disposable') },
      { replies: one({ status: 'do_not_mail', sub_status: 'role_based' }), found: verifiedAs('role') },
    ],
    badKey: { json: { error: 'Invalid API key or your account ran out of credits' } },
  }),
  caseOf(neverbounceVerification, ADDRESS, {
    asks: { at: 'GET /v4/single/check', query: { key: 'k-0123456789-secret', ...ADDRESS } },
    hit: {
      replies: one({ status: 'success', result: 'valid', flags: ['has_dns'], execution_time: 200 }),
      value: { status: 'valid' },
    },
    nothing: [
      { replies: one({ status: 'success', result: 'unknown', flags: [] }), found: unknown },
      { replies: one({ status: 'success', result: 'catchall', flags: [] }), found: verifiedAs('catch_all') },
      {
        replies: one({ status: 'success', result: 'valid', flags: ['role_account'] }),
        found: verifiedAs('role'),
      },
    ],
    badKey: { json: { status: 'auth_failure', message: 'Invalid API key' } },
    quota: { json: { status: 'general_failure', message: 'Insufficient credit balance' } },
    slowDown: { json: { status: 'throttle_triggered', message: 'Too many requests' } },
  }),
  caseOf(millionverifierVerification, ADDRESS, {
    asks: { at: 'GET /api/v3/', query: { api: 'k-0123456789-secret', ...ADDRESS } },
    hit: {
      replies: one({ result: 'ok', resultcode: 1, subresult: 'ok', free: false, role: false, error: '' }),
      value: { status: 'valid' },
    },
    nothing: [
      { replies: one({ result: 'unknown', subresult: 'greylisted', error: '' }), found: unknown },
      { replies: one({ result: 'invalid', subresult: 'no_mx', error: '' }), found: verifiedAs('invalid') },
      { replies: one({ result: 'ok', subresult: 'ok', role: true, error: '' }), found: verifiedAs('role') },
    ],
    badKey: { json: { result: '', error: 'apikey not found' } },
    quota: { json: { result: '', error: 'Insufficient credits' } },
  }),
  caseOf(icypeasVerification, ADDRESS, {
    asks: {
      at: 'POST /api/email-verification',
      headers: { authorization: 'k-0123456789-secret' },
      json: ADDRESS,
      next: { at: 'POST /api/bulk-single-searchs/read', json: { id: 's-1' } },
    },
    hit: {
      replies: [searching, searched('IN_PROGRESS'), searched('DEBITED', 'ultra_sure')],
      value: { status: 'valid', reason: 'ultra_sure' },
    },
    nothing: [
      { replies: [searching, searched('DEBITED', 'very_sure')], found: verifiedAs('valid') },
      { replies: [searching, searched('FOUND', 'probable')], found: verifiedAs('valid') },
      { replies: [searching, searched('DEBITED_NOT_FOUND', 'undeliverable')], found: verifiedAs('invalid') },
      { replies: [searching, searched('DEBITED_NOT_FOUND', 'not_found')], found: unknown },
      { replies: [searching, searched('DEBITED_NOT_FOUND')], found: unknown },
      { replies: [searching, searched('BAD_INPUT')], found: { kind: 'ineligible' } },
      { replies: [searching, searched('ABORTED')], found: unknown },
      { replies: [searching, searched('INSUFFICIENT_FUNDS')], found: { kind: 'no_credits' } },
      {
        replies: [
          searching,
          {
            json: {
              success: true,
              item: { status: 'FOUND', results: { emails: [{ ...ADDRESS, certainty: 'very_sure' }] } },
            },
          },
        ],
        found: verifiedAs('valid'),
      },
      { replies: one({ success: false }), found: { kind: 'ineligible' } },
    ],
  }),
  caseOf(findymailVerification, ADDRESS, {
    asks: {
      at: 'POST /api/verify',
      headers: { authorization: 'Bearer k-0123456789-secret' },
      json: ADDRESS,
    },
    hit: { replies: one({ ...ADDRESS, verified: true, provider: 'Google' }), value: { status: 'valid' } },
    nothing: [{ replies: one({ ...ADDRESS, verified: false }), found: verifiedAs('invalid') }],
    quota: { status: 423, json: { error: 'Subscription is paused' } },
  }),
  caseOf(leadmagicVerification, ADDRESS, {
    asks: {
      at: 'POST /v1/people/email-validation',
      headers: { 'x-api-key': 'k-0123456789-secret' },
      json: ADDRESS,
    },
    hit: {
      replies: one({ ...ADDRESS, email_status: 'valid', mx_record: 'mx.acme.com', credits_consumed: 0.25 }),
      value: { status: 'valid', mx: 'mx.acme.com' },
    },
    nothing: [
      { replies: one({ email_status: 'invalid' }), found: verifiedAs('invalid') },
      { replies: one({ email_status: 'valid_catch_all' }), found: verifiedAs('valid') },
      {
        replies: one({ email_status: 'unknown', is_domain_catch_all: true }),
        found: verifiedAs('catch_all'),
      },
      { replies: one({ email_status: 'unknown', is_domain_catch_all: false }), found: unknown },
    ],
  }),
]
