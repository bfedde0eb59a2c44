import { hunterVerification } from '../../providers/hunter/verification.ts'
import { millionverifierVerification } from '../../providers/millionverifier/verification.ts'
import { neverbounceVerification } from '../../providers/neverbounce/verification.ts'
import { zerobounceVerification } from '../../providers/zerobounce/verification.ts'
import { caseOf } from './case.ts'

const ADDRESS = { email: 'ann.lee@acme.com' }
const told = (status: string) => ({ kind: 'hit', verified: true, value: { status } })
/** Nobody pays for not knowing. */
const unknown = { kind: 'hit', verified: false, free: true, value: { status: 'unknown' } }
const one = (json: object) => [{ json }]

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
      { replies: one({ data: { status: 'accept_all' } }), found: told('catch_all') },
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
      { replies: one({ status: 'invalid', sub_status: 'mailbox_not_found' }), found: told('invalid') },
      { replies: one({ status: 'catch-all', sub_status: '' }), found: told('catch_all') },
      { replies: one({ status: 'do_not_mail', sub_status: 'disposable' }), found: told('disposable') },
      { replies: one({ status: 'do_not_mail', sub_status: 'role_based' }), found: told('role') },
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
      { replies: one({ status: 'success', result: 'catchall', flags: [] }), found: told('catch_all') },
      { replies: one({ status: 'success', result: 'valid', flags: ['role_account'] }), found: told('role') },
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
      { replies: one({ result: 'invalid', subresult: 'no_mx', error: '' }), found: told('invalid') },
      { replies: one({ result: 'ok', subresult: 'ok', role: true, error: '' }), found: told('role') },
    ],
    badKey: { json: { result: '', error: 'apikey not found' } },
    quota: { json: { result: '', error: 'Insufficient credits' } },
  }),
]
