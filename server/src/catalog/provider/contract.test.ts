import { describe, expect, it } from 'vitest'
import { loadAdapters } from '../providers/registry.ts'
import { ANSWERS } from '../testing/provider-cases/answers.ts'
import { APOLLO } from '../testing/provider-cases/apollo.ts'
import type { Case } from '../testing/provider-cases/case.ts'
import { COMPANIES } from '../testing/provider-cases/companies.ts'
import { COMPANY_RECORDS } from '../testing/provider-cases/company-records.ts'
import { CONTACTS } from '../testing/provider-cases/contacts.ts'
import { CRUSTDATA } from '../testing/provider-cases/crustdata.ts'
import { LINKEDIN_URLS } from '../testing/provider-cases/linkedin-urls.ts'
import { NEWS } from '../testing/provider-cases/news.ts'
import { PEOPLE } from '../testing/provider-cases/people.ts'
import { PHONE } from '../testing/provider-cases/phone.ts'
import { PROFILES } from '../testing/provider-cases/profiles.ts'
import { SEARCH } from '../testing/provider-cases/search.ts'
import { VERIFICATION } from '../testing/provider-cases/verification.ts'
import { VERIFIERS_ON_REQUEST } from '../testing/provider-cases/verifiers.ts'
import { WATERFALL_FINDERS } from '../testing/provider-cases/waterfall-finders.ts'
import { WORK_EMAIL } from '../testing/provider-cases/work-email.ts'
import { makeAskContext, type Reply, type Seen, serveDouble } from '../testing/provider-double.ts'
import { createKey } from './access.ts'

const SECRET = 'k-0123456789-secret'
const CASES = [
  ...WORK_EMAIL,
  ...VERIFICATION,
  ...PEOPLE,
  ...PHONE,
  ...PROFILES,
  ...COMPANIES,
  ...APOLLO,
  ...CRUSTDATA,
  ...COMPANY_RECORDS,
  ...CONTACTS,
  ...LINKEDIN_URLS,
  ...WATERFALL_FINDERS,
  ...VERIFIERS_ON_REQUEST,
  ...ANSWERS,
  ...SEARCH,
  ...NEWS,
]

const isToken = ({ path }: Seen) => path.endsWith('/access_token')

/** Asks as a waterfall does: again while the answer is pending. The last reply is repeated for all further calls. */
async function ask(one: Case, replies: readonly Reply[], timeoutMs = 5000) {
  const remaining = [...replies]
  const double = await serveDouble((seen) => {
    if (isToken(seen)) return { json: { access_token: `token of ${SECRET}`, expires_in: 3600 } }
    return (remaining.length > 1 ? remaining.shift() : remaining[0]) ?? {}
  })
  const context = makeAskContext({ [one.provider]: double.origin }, { timeoutMs })
  const key = createKey('platform', one.fields ?? { secret: SECRET })
  let poll: unknown
  for (;;) {
    const found = await one.run(key, poll, context)
    if (found.kind !== 'pending') return { found, asked: double.seen.filter((seen) => !isToken(seen)) }
    poll = JSON.parse(JSON.stringify(found.poll))
  }
}

/** Lists the failures that every provider can have, in the provider's own form if the case has one. */
function listFaults({ badKey, quota, slowDown }: Case): [string, Reply, object][] {
  const faults: [string, Reply, object][] = [
    ['bad key', badKey ?? { status: 401, json: { message: `no key ${SECRET}` } }, { kind: 'unconfigured' }],
    ['quota', quota ?? { status: 402, json: { message: 'payment required' } }, { kind: 'no_credits' }],
    [
      'slow down until',
      { status: 429, headers: { 'retry-after': '7' } },
      { kind: 'rate_limited', afterMs: 7000 },
    ],
    ['5xx', { status: 503, text: `down ${SECRET}` }, { kind: 'error', transient: true }],
    ['cut off', { text: '{"data": {"ema' }, { kind: 'error', transient: false }],
    ['no JSON', { text: '<html>hello</html>' }, { kind: 'error', transient: false }],
    ['wrong shape', { json: [[1, 2]] }, { kind: 'error', transient: false }],
    [
      'oversized',
      { headers: { 'content-length': '6000000' }, text: '"x' },
      { kind: 'error', transient: false },
    ],
  ]
  // If a bare 429 means the quota, only the other form asks to slow down.
  if (quota?.status !== 429) faults.push(['slow down', slowDown ?? { status: 429 }, { kind: 'rate_limited' }])
  return faults
}

it('every adapter has its case', async () => {
  const tried = new Set(CASES.map(({ adapter }) => adapter))
  const untried = (await loadAdapters()).filter(({ adapter }) => !tried.has(adapter))
  expect(untried.map(({ provider, question }) => `${provider.id} ${question}`)).toEqual([])
})

it('a call that hangs ends', async () => {
  const hung = await Promise.all(CASES.map(async (one) => (await ask(one, [{ hang: true }], 150)).found))
  for (const found of hung) expect(found).toMatchObject({ kind: 'error', transient: true, timeout: true })
})

describe.each(CASES.map((one): [string, Case] => [`${one.provider}: ${one.asks.at}`, one]))(
  '%s',
  (_, one) => {
    it('is asked as documented, and its answer is read', async () => {
      const { found, asked } = await ask(one, one.hit.replies)
      expect(found).toMatchObject({ kind: 'hit', value: one.hit.value, verified: one.hit.verified ?? true })
      const questions = [one.asks, ...(one.asks.next === undefined ? [] : [one.asks.next])]
      for (const [n, { at, headers = {}, query = {}, json }] of questions.entries()) {
        expect(asked[n]).toMatchObject({ headers, query })
        expect(`${asked[n]?.method} ${asked[n]?.path}`).toBe(at)
        if (json !== undefined) expect(JSON.parse(asked[n]?.body ?? '')).toMatchObject(json)
      }
    })

    it('a miss and an unusable answer are distinguished', async () => {
      for (const { replies, found } of one.nothing) {
        expect((await ask(one, replies)).found).toMatchObject(found ?? { kind: 'miss' })
      }
    })

    it.each(listFaults(one))('%s', async (_what, reply, expected) => {
      const { found } = await ask(one, [reply])
      expect(found).toMatchObject(expected)
      expect(JSON.stringify(found)).not.toContain(SECRET)
    })
  },
)
