import { beforeAll, describe, expect, it } from 'vitest'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { addProviderTallies, TIME_PLACES } from '#server/money/store/provider-tallies.ts'
import { testCatalogue } from '#test/builders/catalogue.ts'
import { type Json, makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { fieldsOf, makeChain } from '../../../api/testing/chain.ts'
import { OPTION_SOURCES } from './action-options.ts'

const app = await makeApp({ services: { catalogue: testCatalogue } })
let org: TestOrg
beforeAll(async () => {
  org = await app.makeOrg()
})

const optionsOf = async (action: string, field: string, body?: unknown): Promise<Json> => {
  const chain = await makeChain(app, org)
  const id = await chain.add(action)
  return chain.call('POST', `/${id}/options/${field}`, body)
}

describe('4.5 Get Action Field Options', () => {
  it('waterfall providers with extras; disabled ones are omitted', async () => {
    const { status, body } = await optionsOf('finder', 'providers', {})
    const option = (value: string, supports_own_key = true, requires_own_key = false) => ({
      value,
      label: value,
      extras: { supports_own_key, requires_own_key },
    })
    expect([status, body]).toEqual([
      200,
      {
        status: 200,
        data: {
          options: [
            option('Alpha'),
            option('Beta', false),
            option('Gamma', true, true),
            option('Twin'),
            option('Twin'),
          ],
        },
      },
    ])
  })

  it('waterfall providers with their rates for the organisation over the last 30 days', async () => {
    const tally = {
      day: new Date().toISOString().slice(0, 10),
      action: 'finder',
      asked: 10,
      found: 4,
      verified: 3,
    }
    const times = Array.from({ length: TIME_PLACES }, (_, n) => (n === 6 ? 10 : 0))
    const mine = { ...tally, org: org.orgId, provider: 'Alpha', creditsMillis: 6000, times }
    const other = await app.makeOrg()
    await addProviderTallies(app.store, [mine, { ...mine, org: other.orgId, provider: 'Beta' }])
    const { body } = await optionsOf('finder', 'providers', {})
    const extras = body.data.options.map((option: Json) => option.extras.last_30_days)
    expect(extras).toEqual([
      { asked: 10, found: 4, verified: 3, price_per_find: 1.5, p50_ms: 96 },
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  it('fixed words, with or without a body', async () => {
    const options = [
      { value: 'fast', label: 'Fast' },
      { value: 'slow', label: 'Slow' },
    ]
    expect((await optionsOf('probe', 'mode')).body.data).toEqual({ options })
    expect((await optionsOf('probe', 'mode', { context: { any: 'thing' } })).body.data).toEqual({ options })
  })

  it.each(['nothing', 'text', 'constructor', 'pairs'])('404 for %s, which has none', async (field) => {
    expect((await optionsOf('probe', field, { context: 5 })).status).toBe(404)
  })

  it.each<[unknown, string[]]>([
    [{ context: 5 }, ['context']],
    [[], ['body']],
    [undefined, ['context.object_type']],
    [{}, ['context.object_type']],
    [{ context: {} }, ['context.object_type']],
    [{ context: { object_type: '' } }, ['context.object_type']],
    [{ context: { object_type: 5 } }, ['context.object_type']],
  ])('400 where the context is missing or wrong: %j', async (body, fields) => {
    expect(fieldsOf(await optionsOf('probe', 'nested', body))).toEqual(fields)
  })

  it('a field with its context has options', async () => {
    expect((await optionsOf('probe', 'nested', { context: { object_type: 'x' } })).status).toBe(200)
  })

  it('sheets are those of workflows that the caller may use (D13), main sheets first', async () => {
    const own = await app.makeOrg()
    const other = await app.makeOrg()
    const member = await own.keyFor('member@example.com', 'member')
    const make = async (key: string, name: string): Promise<string> =>
      (await app.call(key, 'POST', '/workflows', { name })).body.data.workflow_id
    const theirs = await make(own.key, 'Theirs')
    await make(other.key, 'Foreign')
    const mine = await make(member, 'Mine')
    const child = (await app.call(member, 'POST', `/workflows/${mine}/sheets`, { name: 'Log' })).body.data
      .sheet_id
    const sheet = `/workflows/${mine}/sheets/${mine}/actions`
    await app.call(member, 'POST', `${sheet}/add`, { action_id: 'probe' })
    const seenBy = async (key: string) =>
      (await app.call(key, 'POST', `${sheet}/probe_1/options/target`, {})).body.data.options
    const ofMine = [
      { value: mine, label: 'Mine / Mine' },
      { value: child, label: 'Mine / Log' },
    ]
    expect(await seenBy(member)).toEqual(ofMine)
    expect(await seenBy(own.key)).toEqual([...ofMine, { value: theirs, label: 'Theirs / Theirs' }])
    const narrowed = await own.keyFor(own.adminEmail, 'admin', { allowedWorkflowIds: [mine] })
    expect(await seenBy(narrowed)).toEqual(ofMine)
    await app.call(member, 'DELETE', `/workflows/${mine}/sheets/${child}`)
    expect(await seenBy(member)).toEqual(ofMine.slice(0, 1))
  })

  it('every dropdown of the catalogue has a source of options', async () => {
    const asked = (await loadCatalogue())
      .list()
      .flatMap(({ inputs }) => Object.values(inputs))
      .flatMap(({ options }) => (options !== undefined && 'from' in options ? [options.from] : []))
    expect(asked).toContain('sheets')
    expect(asked.filter((from) => !OPTION_SOURCES.has(from))).toEqual([])
  })
})
