import { describe, expect, it } from 'vitest'
import type { Outcome } from '../outcome.ts'
import { createKey, type ProviderKeys } from '../provider/access.ts'
import { type Reply, serveDouble } from '../testing/provider-double.ts'
import { useActions } from '../testing/run-action.ts'

const runAction = useActions()
const ANN = { full_name: 'Ann Lee', company_domain: 'https://www.acme.example/about' }
const keysFor = (...ids: string[]): ProviderKeys => ({
  platform: (id) => (ids.includes(id) ? createKey('platform', { secret: 'k' }) : null),
  own: async () => null,
})
const brief = (outcome: Outcome<unknown>) =>
  'provenance' in outcome ? outcome.provenance?.map(({ provider, status }) => `${provider} ${status}`) : []

/** Runs with doubles in place of providers, each of which gives one answer. */
async function run(
  replies: Record<string, Reply>,
  inputs: Record<string, unknown> = {},
  settings: { credits?: number } = {},
) {
  const urls: Record<string, string> = {}
  const asked: string[] = []
  for (const [id, reply] of Object.entries(replies)) {
    const double = await serveDouble((seen) => {
      asked.push(`${id} ${seen.path}`)
      return reply
    })
    urls[id] = double.origin
  }
  const keys = keysFor(...Object.keys(replies))
  const outcome = await runAction(
    'person_work_email_waterfall',
    { ...ANN, ...inputs },
    { urls, keys, ...settings },
  )
  return { outcome, asked }
}
const byHunter = (email: string, status: string, score = 90): Reply => ({
  json: { data: { email, score, verification: { status } } },
})
const byFindymail = (email: string): Reply => ({ json: { contact: { email } } })
const byZeroBounce = (status: string): Reply => ({ json: { status, sub_status: '' } })
const WITH = { email_providers: ['Hunter', 'Findymail'], email_validation: ['ZeroBounce'] }

it('D71: providers with neither key nor connection are skipped, in order; if none remains, the cell is an error', async () => {
  const { outcome } = await run({}, { email_providers: ['Hunter', 'Snov'] })
  expect([outcome.kind, brief(outcome)]).toEqual(['unrunnable', ['Hunter unconfigured', 'Snov unconfigured']])
  expect(outcome).toMatchObject({ message: expect.stringContaining('set LOAM_PROVIDER_KEY_SNOV') })
})

it('without providers the usual ones are called', async () => {
  const { outcome } = await run({})
  const usual = ['Hunter', 'Prospeo', 'LeadMagic', 'Findymail', 'Datagma', 'Apollo', 'Snov', 'Wiza']
  const passedOver = usual.map((name) => `${name} unconfigured`)
  expect(brief(outcome)).toEqual(['Blitz unconfigured', ...passedOver])
})

it('an address that its finder has verified is used at once', async () => {
  const { outcome, asked } = await run({ hunter: byHunter('ann@acme.example', 'valid') })
  expect(outcome).toMatchObject({
    kind: 'done',
    outputs: { work_email: 'ann@acme.example', status: 'valid', provider: 'Hunter', confidence: 0.9 },
    credits: 1,
  })
  expect(asked).toEqual(['hunter /v2/email-finder'])
})

describe('named verifiers check every address', () => {
  it.each<[string, Record<string, unknown>, object, number, string[]]>([
    ['valid', {}, { work_email: 'a@acme.example', status: 'valid' }, 1.5, ['Hunter hit', 'ZeroBounce hit']],
    [
      'catch-all',
      { accept_catch_all: true },
      { work_email: 'a@acme.example', status: 'catch_all' },
      1.5,
      ['Hunter hit', 'ZeroBounce hit'],
    ],
    [
      'invalid',
      { email_providers: ['Hunter'] },
      { kind: 'no_match' },
      0.5,
      ['Hunter invalid', 'ZeroBounce hit'],
    ],
    [
      'catch-all',
      {},
      { work_email: 'a@acme.example', status: 'catch_all' },
      3,
      ['Hunter unverified', 'ZeroBounce hit', 'Findymail unverified', 'ZeroBounce hit'],
    ],
    [
      'unknown',
      {},
      { work_email: 'a@acme.example', status: 'valid' },
      1,
      ['Hunter hit', 'ZeroBounce unverified'],
    ],
  ])('%s %j', async (status, inputs, expected, credits, provenance) => {
    const { outcome } = await run(
      {
        hunter: byHunter('a@acme.example', 'valid'),
        findymail: byFindymail('b@acme.example'),
        zerobounce: byZeroBounce(status),
      },
      { ...WITH, ...inputs },
    )
    expect(outcome).toMatchObject(
      'kind' in expected ? { ...expected, credits } : { outputs: expected, credits },
    )
    expect(brief(outcome)).toEqual(provenance)
  })

  it.each<[string, number, object]>([
    ['catch-all', 2.5, { status: 'catch_all', provider: 'Hunter' }],
    ['invalid', 0.5, { kind: 'no_match' }],
    ['unknown', 2, { status: 'valid', provider: 'Findymail' }],
  ])(
    'D73: an address that two have found is verified, and paid for, once: %s',
    async (status, credits, told) => {
      const { outcome, asked } = await run(
        {
          hunter: byHunter('a@acme.example', 'accept_all'),
          findymail: byFindymail('A@acme.example'),
          zerobounce: byZeroBounce(status),
        },
        WITH,
      )
      expect(asked.filter((call) => call.startsWith('zerobounce'))).toHaveLength(1)
      expect(outcome).toMatchObject('kind' in told ? { ...told, credits } : { outputs: told, credits })
    },
  )

  it.each<[string, Record<string, unknown>, object]>([
    ['a verifier that somebody chose', WITH, { work_email: 'a@acme.example', status: 'unknown' }],
    ['the default check', { email_providers: ['Hunter'] }, { work_email: 'a@acme.example', status: 'valid' }],
  ])(
    'D83: if credits do not suffice for %s, the verdict of the finder counts only by default',
    async (_, inputs, outputs) => {
      const replies = { hunter: byHunter('a@acme.example', 'valid'), zerobounce: byZeroBounce('valid') }
      const { outcome, asked } = await run(replies, inputs, { credits: 1.2 })
      expect(outcome).toMatchObject({ kind: 'done', outputs, credits: 1 })
      expect(asked).toEqual(['hunter /v2/email-finder'])
    },
  )

  it.each(['valid', 'accept_all', 'unknown', 'webmail'])(
    'D83: a chosen verifier is called once about each address, whatever its finder reports: %s',
    async (word) => {
      const replies = {
        hunter: byHunter('a@acme.example', word),
        findymail: byFindymail('A@acme.example'),
        zerobounce: byZeroBounce('catch-all'),
      }
      const { asked } = await run(replies, WITH)
      expect(asked.filter((call) => call.startsWith('zerobounce'))).toHaveLength(1)
    },
  )

  it('None accepts the verdict of the finder', async () => {
    const replies = {
      hunter: byHunter('a@acme.example', 'accept_all'),
      findymail: byFindymail('b@acme.example'),
    }
    const { outcome } = await run(replies, { ...WITH, email_validation: ['None'] })
    expect(outcome).toMatchObject({
      outputs: { work_email: 'b@acme.example', provider: 'Findymail' },
      credits: 2,
    })
  })
})

it.each([{}, { full_name: 'Ann Lee' }, { company_domain: 'acme.com' }])(
  '%j is not enough: linkedin_url alone, or name with domain',
  async (inputs) => {
    expect(await runAction('person_work_email_waterfall', inputs)).toEqual({
      kind: 'unrunnable',
      message: 'one of these must be set: linkedin_url; full_name and company_domain',
    })
  },
)

it('an unknown provider is refused (D32)', async () => {
  await expect(run({}, { email_providers: ['Nobody'] })).rejects.toThrow(
    'email_providers[0] unknown provider Nobody',
  )
})
