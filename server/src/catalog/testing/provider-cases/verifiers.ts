import { bouncerVerification } from '../../providers/bouncer/verification.ts'
import { emailableVerification } from '../../providers/emailable/verification.ts'
import { enrowVerification } from '../../providers/enrow/verification.ts'
import { reoonVerification } from '../../providers/reoon/verification.ts'
import { caseOf } from './case.ts'

const SECRET = 'k-0123456789-secret'
const ADDRESS = { email: 'ann.lee@acme.com' }
const verifiedAs = (status: string) => ({ kind: 'hit', verified: true, value: { status } })
/** The result of an unknown verdict, which is free. */
const unknown = { kind: 'hit', verified: false, free: true, value: { status: 'unknown' } }
const one = (json: object) => [{ json }]
const started = { json: { message: 'Single verification operating', id: 'e-1' } }

export const VERIFIERS_ON_REQUEST = [
  caseOf(enrowVerification, ADDRESS, {
    asks: {
      at: 'POST /email/verify/single',
      headers: { 'x-api-key': SECRET },
      json: ADDRESS,
      next: { at: 'GET /email/verify/single', query: { id: 'e-1' } },
    },
    hit: {
      replies: [
        started,
        { status: 202, json: { qualification: 'ongoing' } },
        { json: { ...ADDRESS, qualification: 'valid' } },
      ],
      value: { status: 'valid' },
    },
    nothing: [
      { replies: [started, { json: { qualification: 'invalid' } }], found: verifiedAs('invalid') },
      { replies: [started, { json: { qualification: 'odd' } }], found: unknown },
    ],
    quota: { status: 422, json: { message: 'Insufficient balance' } },
  }),
  caseOf(reoonVerification, ADDRESS, {
    asks: { at: 'GET /api/v1/verify', query: { key: SECRET, mode: 'power', ...ADDRESS } },
    hit: {
      replies: one({ ...ADDRESS, status: 'safe', is_safe_to_send: true, mx_records: ['mx.acme.com'] }),
      value: { status: 'valid', mx: 'mx.acme.com', reason: 'safe' },
    },
    nothing: [
      { replies: one({ status: 'invalid' }), found: verifiedAs('invalid') },
      { replies: one({ status: 'spamtrap' }), found: verifiedAs('invalid') },
      { replies: one({ status: 'disposable' }), found: verifiedAs('disposable') },
      { replies: one({ status: 'catch_all' }), found: verifiedAs('catch_all') },
      { replies: one({ status: 'role_account' }), found: verifiedAs('role') },
      { replies: one({ status: 'inbox_full' }), found: unknown },
      { replies: one({ status: 'unknown' }), found: unknown },
      { replies: one({ status: 'error', reason: 'Invalid email.' }), found: { kind: 'ineligible' } },
    ],
    badKey: { json: { status: 'error', reason: 'Invalid API key.' } },
    quota: { json: { status: 'error', reason: 'Not enough credits.' } },
  }),
  caseOf(bouncerVerification, ADDRESS, {
    asks: { at: 'GET /v1.1/email/verify', headers: { 'x-api-key': SECRET }, query: ADDRESS },
    hit: {
      replies: one({
        ...ADDRESS,
        status: 'deliverable',
        reason: 'accepted_email',
        domain: { name: 'acme.com', acceptAll: 'no', disposable: 'no', free: 'no' },
        account: { role: 'no', disabled: 'no', fullMailbox: 'no' },
      }),
      value: { status: 'valid', reason: 'accepted_email' },
    },
    nothing: [
      { replies: one({ status: 'undeliverable', reason: 'rejected_email' }), found: verifiedAs('invalid') },
      { replies: one({ status: 'risky', domain: { acceptAll: 'yes' } }), found: verifiedAs('catch_all') },
      { replies: one({ status: 'risky', domain: { disposable: true } }), found: verifiedAs('disposable') },
      { replies: one({ status: 'deliverable', account: { role: 'yes' } }), found: verifiedAs('role') },
      { replies: one({ status: 'unknown', reason: 'timeout' }), found: unknown },
    ],
  }),
  caseOf(emailableVerification, ADDRESS, {
    asks: { at: 'GET /v1/verify', query: { api_key: SECRET, ...ADDRESS } },
    hit: {
      replies: [
        { status: 249, json: { message: 'Your request is taking longer than normal.' } },
        { json: { ...ADDRESS, state: 'deliverable', reason: 'accepted_email', mx_record: 'mx.acme.com' } },
      ],
      value: { status: 'valid', mx: 'mx.acme.com' },
    },
    nothing: [
      { replies: one({ state: 'undeliverable', reason: 'rejected_email' }), found: verifiedAs('invalid') },
      { replies: one({ state: 'risky', accept_all: true }), found: verifiedAs('catch_all') },
      { replies: one({ state: 'risky', disposable: true }), found: verifiedAs('disposable') },
      { replies: one({ state: 'deliverable', role: true }), found: verifiedAs('role') },
      { replies: one({ state: 'unknown', reason: 'timeout' }), found: unknown },
    ],
  }),
]
