import { contactoutPhone } from '../../providers/contactout/phone.ts'
import { kasprPhone } from '../../providers/kaspr/phone.ts'
import { rocketreachPhone } from '../../providers/rocketreach/phone.ts'
import { surfePhone } from '../../providers/surfe/phone.ts'
import { wizaPhone } from '../../providers/wiza/phone.ts'
import { caseOf } from './case.ts'
import { ANN } from './work-email.ts'

const BEARER = { authorization: 'Bearer k-0123456789-secret' }
const number = '+16502530000'
const one = (json: unknown) => [{ json }]
const revealed = (data: object) => ({ json: { data: { id: 7, ...data } } })
const started = { status: 202, json: { enrichmentID: 'e-1', message: 'enrichment started' } }
const enriched = (status: string, ...mobilePhones: object[]) => ({
  json: { enrichmentID: 'e-1', status, people: [{ firstName: 'Ann', mobilePhones }] },
})

export const PHONE = [
  caseOf(contactoutPhone, ANN, {
    asks: {
      at: 'POST /v1/people/enrich',
      headers: { token: 'k-0123456789-secret' },
      json: { linkedin_url: ANN.linkedin_url, include: ['phone'] },
    },
    hit: {
      replies: one({ status_code: 200, profile: { full_name: 'Ann Lee', phone: ['+1 650-253-0000'] } }),
      value: { phone: number, type: null },
    },
    nothing: [
      { replies: one({ status_code: 200, profile: { phone: [] } }) },
      { replies: one({ status_code: 200, profile: [] }) },
      { replies: [{ status: 404, json: { message: 'Not Found' } }] },
    ],
    quota: { status: 403, json: { message: 'You have used all your credits' } },
  }),
  caseOf(surfePhone, ANN, {
    asks: {
      at: 'POST /v2/people/enrich',
      headers: BEARER,
      json: { include: { mobile: true }, people: [{ linkedinUrl: ANN.linkedin_url }] },
      next: { at: 'GET /v2/people/enrich/e-1' },
    },
    hit: {
      replies: [
        started,
        enriched('IN_PROGRESS'),
        enriched(
          'COMPLETED',
          { mobilePhone: '+16502530001', confidenceScore: 0.4 },
          { mobilePhone: number, confidenceScore: 0.9 },
        ),
      ],
      value: { phone: number, type: 'mobile' },
    },
    nothing: [{ replies: [started, enriched('COMPLETED')] }, { replies: [started, enriched('FAILED')] }],
    quota: { status: 403, json: { message: 'quota exceeded' } },
  }),
  caseOf(kasprPhone, ANN, {
    asks: {
      at: 'POST /profile/linkedin',
      headers: { ...BEARER, 'accept-version': 'v2.0' },
      json: { id: 'annlee', name: 'Ann Lee', dataToGet: ['phone'] },
    },
    hit: {
      replies: one({ profile: { starryPhone: '+1 650 253 0000', phones: ['+1 650 253 0000'] } }),
      value: { phone: number },
    },
    nothing: [
      { replies: one({}) },
      { replies: one({ profile: { phones: [] } }) },
      { replies: [{ text: '' }] },
    ],
    quota: { status: 402, json: { message: 'No phone credits left' } },
  }),
  caseOf(rocketreachPhone, ANN, {
    asks: {
      at: 'GET /api/v2/person/lookup',
      headers: { 'api-key': 'k-0123456789-secret' },
      query: { linkedin_url: ANN.linkedin_url, lookup_type: 'phone' },
      next: { at: 'GET /api/v2/person/checkStatus', query: { ids: '5262' } },
    },
    hit: {
      replies: [
        { json: { id: 5262, status: 'searching' } },
        { json: [{ id: 5262, status: 'progress' }] },
        {
          json: [
            {
              id: 5262,
              status: 'complete',
              phones: [
                { number: '+1 650-253-0001', type: 'professional' },
                { number: '650-253-0000', e164: number, type: 'mobile', recommended: true },
              ],
            },
          ],
        },
      ],
      value: { phone: number, type: 'mobile' },
    },
    nothing: [
      { replies: one({ id: 5262, status: 'complete', phones: [] }) },
      { replies: one({ id: 5262, status: 'failed' }) },
      { replies: [{ status: 404, json: { detail: 'no such profile' } }] },
    ],
  }),
  caseOf(wizaPhone, ANN, {
    asks: {
      at: 'POST /api/individual_reveals',
      headers: BEARER,
      json: { individual_reveal: { profile_url: ANN.linkedin_url }, enrichment_level: 'phone' },
    },
    hit: {
      replies: [
        revealed({ status: 'resolving', is_complete: false }),
        revealed({ is_complete: true, phones: [{ number, type: 'mobile' }] }),
      ],
      value: { phone: number, type: 'mobile' },
    },
    nothing: [
      { replies: [revealed({ is_complete: true, phones: [], mobile_phone: null })] },
      { replies: [revealed({ is_complete: true, mobile_phone: '+1 650 25* ****' })] },
    ],
  }),
]
