import { expect, it } from 'vitest'
import { addProviderTallies, TIME_PLACES } from '#server/money/store/provider-tallies.ts'
import { makeRowSheet } from '#test/builders/rows.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp({ settings: { LOAM_PROVIDER_KEY_HUNTER: 'k', LOAM_PROVIDER_KEY_FINDYMAIL: 'k' } })
const org = await app.makeOrg()
const base = await makeRowSheet(org, ['name', 'domain'])
const inputs = { full_name: '{{input.name}}', company_domain: '{{input.domain}}' }
await org.call('POST', `${base}/actions/add`, { action_id: 'person_work_email_waterfall', inputs })
const action = `${base}/actions/person_work_email_waterfall_1`
const read = async (field: string, query = '') => org.call('GET', `${action}/waterfall/${field}${query}`)
const configure = async (given: object) =>
  expect((await org.call('PATCH', action, { inputs: given })).status).toBe(200)

it('H4: lists the providers that are asked, in order: the default until changed, then the configured ones', async () => {
  await addProviderTallies(app.store, [
    {
      org: org.orgId,
      day: new Date().toISOString().slice(0, 10),
      action: 'person_work_email_waterfall',
      provider: 'Hunter',
      asked: 8,
      found: 2,
      verified: 1,
      creditsMillis: 160_000,
      times: Array.from({ length: TIME_PLACES }, (_, n) => (n === 9 ? 8 : 0)),
    },
  ])
  const { status, body } = await read('email_providers')
  expect([status, body.data.is_default]).toEqual([200, true])
  const hunter = {
    provider: 'Hunter',
    credits: 1,
    miss_credits: 0,
    key: 'installation',
    asked: true,
    supports_own_key: true,
    hit_rate: 0.25,
    found: 2,
    median_ms: 768,
  }
  expect(body.data.providers).toContainEqual(hunter)
  expect(
    body.data.providers.slice(0, 3).map(({ provider, key, asked }: Json) => [provider, key, asked]),
  ).toEqual([
    [expect.any(String), 'none', false],
    ['Hunter', 'installation', true],
    [expect.any(String), 'none', false],
  ])
  await configure({ email_providers: ['Findymail', { name: 'Hunter', use_own_key: true }] })
  const changed = (await read('email_providers')).body.data
  expect(changed.is_default).toBe(false)
  expect(
    changed.providers.map(({ provider, key, asked, hit_rate }: Json) => [provider, key, asked, hit_rate]),
  ).toEqual([
    ['Findymail', 'installation', true, null],
    ['Hunter', 'none', false, 0.25],
  ])
  const all = (await read('email_providers', '?all=true')).body.data.providers
  expect(all.slice(0, 3).map(({ listed }: Json) => listed)).toEqual([true, true, false])
  // Findymail has found nothing yet at the same price: it counts as finding half, and Hunter is dearer for a result.
  await configure({
    email_providers: [{ name: 'Hunter', use_own_key: false }, 'Findymail'],
    order: 'cheapest_per_find',
  })
  const sorted = (await read('email_providers')).body.data.providers
  expect(sorted.map(({ provider }: Json) => provider)).toEqual(['Findymail', 'Hunter'])
})

it('H4: verifiers of which one asks nobody are not asked; a field that is no waterfall is 404', async () => {
  expect((await read('email_validation')).body.data).toEqual({ is_default: true, providers: [] })
  await configure({ email_validation: ['None'] })
  expect((await read('email_validation')).body.data.providers).toMatchObject([
    { provider: 'None', asked: false },
  ])
  for (const field of ['full_name', 'nothing', '__proto__'])
    expect((await read(field)).status, field).toBe(404)
  const stranger = await app.makeOrg()
  expect((await stranger.call('GET', `${action}/waterfall/email_providers`)).status).toBe(404)
})
