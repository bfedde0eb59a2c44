import { describe, expect, it } from 'vitest'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { runLoam } from '../../../../../cli/testing/loam.ts'
import { makeChain } from '../../../api/testing/chain.ts'
import { signIn } from '../../../api/testing/session.ts'

const app = await makeApp()
const org = await app.makeOrg()
const actions = app.services.catalogue.list()

it.each(actions)('$id can be added, read and configured', async ({ id, name, inputs }) => {
  const chain = await makeChain(app, org)
  const { status, body } = await chain.call('POST', '/add', { action_id: id })
  expect([status, body.data.display_name]).toEqual([201, name])
  expect(body.data.inputs.map((input: { name: string }) => input.name)).toEqual(Object.keys(inputs))
  const node = await chain.call('GET', `/${id}_1`)
  expect(node.body.data).toMatchObject({ action_id: id, inputs: {}, next: [] })
  const codes = new Set((node.body.warnings ?? []).map((warning: { code: string }) => warning.code))
  const expected = new Set(['required_field_missing', 'provider_not_configured'])
  expect([...codes].filter((code) => !expected.has(code as string))).toEqual([])
  expect((await chain.call('GET', `/${id}_1/outputs`)).status).toBe(200)
  for (const field of Object.keys(inputs)) {
    // For any nonsense in a field, the response is a valid answer and not a failure of ours. The answer is the node as it is
    // read.
    for (const value of [null, '', '{{input.email}}', 5, true, [], ['x'], {}, [{}], [{ conditions: [] }]]) {
      const answer = await chain.call('PATCH', `/${id}_1`, { inputs: { [field]: value } })
      expect([200, 400]).toContain(answer.status)
    }
    expect((await chain.call('GET', `/${id}_1`)).status).toBe(200)
    expect([200, 400, 404]).toContain((await chain.call('POST', `/${id}_1/options/${field}`, {})).status)
  }
})

/** The command knows the catalogue of the program, but not the keys of an organisation. */
const dropHasKey = ({ has_key, ...entry }: Json) => {
  expect(typeof has_key).toBe('boolean')
  return entry
}

describe('GET /actions', async () => {
  const org = await app.makeOrg()

  it('is the catalogue, as `loam actions --json` prints it', async () => {
    const { status, body } = await org.call('GET', '/actions')
    const printed = JSON.parse((await runLoam(['actions', '--json'], {})).stdout)
    expect([status, body.data.map(dropHasKey)]).toEqual([200, printed])
    expect(body.data.length).toBe(actions.length)
  })

  it.each(['http_api_call', 'person_work_email_waterfall', 'filter'])(
    '/%s is the action, as `loam actions show` prints it',
    async (id) => {
      const { status, body } = await org.call('GET', `/actions/${id}`)
      const { stdout } = await runLoam(['actions', 'show', id, '--json'], {})
      expect([status, dropHasKey(body.data)]).toEqual([200, JSON.parse(stdout)])
    },
  )

  it('every action is returned in the shape of the contract', async () => {
    for (const { id } of actions) expect((await org.call('GET', `/actions/${id}`)).status).toBe(200)
  })

  it('one that there is not is 404 and names the nearest', async () => {
    const { status, body } = await org.call('GET', '/actions/http_api_cal')
    expect([status, body.message]).toEqual([
      404,
      'There is no action http_api_cal; did you mean http_api_call?',
    ])
  })

  const search = async (words: string): Promise<Json[]> => {
    const { status, body } = await org.call('GET', `/actions?search=${encodeURIComponent(words)}`)
    expect(status).toBe(200)
    return body.data
  }

  it.each([
    ['http_api_call', 'http_api_call'],
    ['Work EMAIL', 'person_work_email_waterfall'],
    ['emails', 'person_work_email_waterfall'],
    ['phone', 'parse_phone_number'],
    ['gpt', 'ai_generate'],
    ['vlookup', 'lookup_rows_in_sheet'],
    ['extract domain', 'normalize_domain'],
    ['hubspot upsert', 'hubspot_upsert_object'],
    ['linkedin profile', 'find_linkedin_profile'],
    ['formula', 'format_data_using_js_expression'],
  ])('H8: the search %j finds the best first', async (words, id) => {
    const found = (await search(words)).map(({ action_id }) => action_id)
    expect(found.slice(0, 3)).toContain(id)
  })

  it.each(['hunter', 'gpt', 'extract', 'apollo', 'phone', 'linkedin'])(
    'H8: %s, in names, synonyms or providers, finds something',
    async (word) => {
      const found = await search(word)
      expect(found.length).toBeGreaterThan(0)
      expect(found.length).toBeLessThan(actions.length / 2)
      for (const { name, synonyms, providers, description } of found)
        expect([name, ...synonyms, ...providers, description].join(' ').toLowerCase()).toContain(word)
    },
  )

  it('H8: no hit is [], an empty search the whole catalogue; a search is one text of at most 200', async () => {
    for (const words of ['qqqq', 'hunter qqqq', '!!', '%', '__proto__'])
      expect([words, await search(words)]).toEqual([words, []])
    for (const words of ['', '  ']) expect((await search(words)).length).toBe(actions.length)
    for (const query of [`search=${'a'.repeat(201)}`, 'search=a&search=b']) {
      const { status, body } = await org.call('GET', `/actions?${query}`)
      expect([query, status, body.errors?.length]).toEqual([query, 400, 1])
    }
  })

  it('H8: has_key follows the connections that the caller may use, and only those', async () => {
    const other = await app.makeOrg()
    const listKeys = async (who: typeof org, key = who.key) => {
      const { body } = await app.call(key, 'GET', '/actions')
      return new Map<string, boolean>(body.data.map((one: Json) => [one.action_id, one.has_key]))
    }
    const before = await listKeys(org)
    for (const { id } of actions.filter(({ pure }) => pure)) expect([id, before.get(id)]).toEqual([id, true])
    const keyed = [
      'find_people_at_company',
      'hubspot_lookup_object',
      'send_email',
      'ai_generate',
      'web_search',
    ]
    expect(keyed.map((id) => before.get(id))).toEqual([false, false, false, false, false])
    expect(before.get('verify_email')).toBe(true)
    const member = await org.keyFor('member@example.test', 'member')
    const session = await signIn(app, org.orgId, org.adminEmail)
    for (const [provider, shared] of Object.entries({ hubspot: false, openai: true, apollo: true })) {
      const fields = { secret: `key-of-${provider}` }
      expect(
        (await session.call('POST', '/connections', { provider, name: provider, shared, fields })).status,
      ).toBe(201)
    }
    const after = await listKeys(org)
    const changed = [...after].filter(([id, has]) => has !== before.get(id)).map(([id]) => id)
    expect(changed).toEqual(
      expect.arrayContaining(['ai_generate', 'find_people_at_company', 'hubspot_lookup_object']),
    )
    expect(changed).not.toContain('send_email')
    expect((await listKeys(org, member)).get('hubspot_lookup_object')).toBe(false)
    expect((await listKeys(other)).get('find_people_at_company')).toBe(false)
    const { body } = await org.call('GET', '/actions/ai_generate')
    expect(body.data).toMatchObject({ has_key: true, pure: false, inputs: expect.anything() })
  })

  it('needs actions:read', async () => {
    const key = await org.keyFor(org.adminEmail, 'admin', { scopes: ['workflows:read'] })
    expect((await app.call(key, 'GET', '/actions')).status).toBe(403)
    const reader = await org.keyFor(org.adminEmail, 'admin', { scopes: ['actions:read'] })
    expect((await app.call(reader, 'GET', '/actions')).status).toBe(200)
  })
})
