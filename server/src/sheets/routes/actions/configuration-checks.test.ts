import { describe, expect, it } from 'vitest'
import { slack } from '#server/catalog/providers/slack/provider.ts'
import { addConnection } from '#server/organisation/connections.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { fieldsOf, makeChain } from '../../../api/testing/chain.ts'

const app = await makeApp({
  settings: {
    LOAM_PROVIDER_KEY_PROSPEO: 'k',
    LOAM_MODEL_BASE_URL: 'http://127.0.0.1:1/v1',
    LOAM_MODELS: 'llama3.2',
  },
})
const org = await app.makeOrg()

/** Returns the warnings of an action added with these inputs, without warnings about fields that are not set. */
async function listWarnings(action_id: string, inputs: Record<string, unknown>): Promise<Json[]> {
  const chain = await makeChain(app, org)
  const { status, body } = await chain.call('POST', '/add', { action_id, inputs })
  expect([status, body.errors]).toEqual([201, undefined])
  const shown = (await chain.call('GET', `/${action_id}_1`)).body.warnings ?? []
  expect(shown).toEqual(body.warnings)
  return body.warnings.filter(({ code }: Json) => code !== 'required_field_missing')
}
const one = (field: string, code: string, message: string) => [
  {
    field: `inputs.${field}`,
    code,
    message: expect.stringContaining(message),
    text: expect.stringMatching(/^[A-Z]/),
  },
]

describe('D70', () => {
  it.each<[unknown, unknown]>([
    ['None', ['None']],
    ['ZeroBounce', ['ZeroBounce']],
    ['none', ['None']],
    [
      ['ZeroBounce', 'Built-in'],
      ['ZeroBounce', 'Built-in'],
    ],
    [{ name: 'ZeroBounce', use_own_key: true }, [{ name: 'ZeroBounce', use_own_key: true }]],
  ])('email_validation takes %j', async (email_validation, shown) => {
    const chain = await makeChain(app, org)
    await chain.add('person_work_email_waterfall', { inputs: { email_validation } })
    expect((await chain.node('person_work_email_waterfall_1')).inputs.email_validation).toEqual(shown)
  })

  it('other waterfalls are lists, and an unknown name is refused at its place', async () => {
    const chain = await makeChain(app, org)
    const refused = async (inputs: unknown) =>
      fieldsOf(await chain.call('POST', '/add', { action_id: 'person_work_email_waterfall', inputs }))
    expect(await refused({ email_providers: 'Hunter' })).toEqual(['inputs.email_providers'])
    expect(await refused({ email_validation: 'Nobody' })).toEqual(['inputs.email_validation[0]'])
    expect(await refused({ email_validation: 5 })).toEqual(['inputs.email_validation[0]'])
  })

  it('reordering a list that was never saved starts from the default', async () => {
    const chain = await makeChain(app, org)
    await chain.add('enrich_company')
    const path = '/enrich_company_1/waterfall/providers'
    const missing = (await chain.call('PATCH', path, { providers: ['Explorium'] })).body.errors[0].message
    const usual: string[] = ['Explorium', ...missing.replace(/^.*missing: /, '').split(', ')]
    expect(usual.length).toBeGreaterThan(2)
    const providers = usual.toReversed()
    const { status, body } = await chain.call('PATCH', path, { providers })
    expect([status, body.data.providers]).toEqual([200, providers])
    expect((await chain.node('enrich_company_1')).inputs.providers).toEqual(providers)
  })

  it('a list that was saved empty is no default', async () => {
    const chain = await makeChain(app, org)
    await chain.add('enrich_company', { inputs: { providers: [] } })
    const path = '/enrich_company_1/waterfall/providers'
    expect(fieldsOf(await chain.call('PATCH', path, { providers: ['Explorium'] }))).toEqual(['providers'])
  })
})

describe('D71: adding or configuring an action without a usable provider warns provider_not_configured', () => {
  const code = 'provider_not_configured'

  it('a waterfall, with the settings and the command', async () => {
    const email_providers = ['Hunter', { name: 'Snov', use_own_key: true }, 'Findymail', 'Datagma']
    const warnings = await listWarnings('person_work_email_waterfall', { email_providers })
    const message =
      'none of its providers can be asked. Hunter: set LOAM_PROVIDER_KEY_HUNTER, or connect it with loam connection add --provider hunter and list it as {"name": "Hunter", "use_own_key": true}; Snov: connect it with loam connection add --provider snov; Findymail: '
    expect(warnings.filter((warning) => warning.code === code)).toEqual(one('email_providers', code, message))
    expect(warnings.at(0).message).toContain('; or one of Datagma likewise')
  })

  it.each<[string, string, Record<string, unknown>]>([
    ['one of several has a key', 'person_work_email_waterfall', { email_providers: ['Hunter', 'Prospeo'] }],
    ['one needs none', 'verify_email', { providers: ['ZeroBounce', 'Built-in'] }],
    ['the default has one', 'verify_email', {}],
    ['there is no check', 'person_work_email_waterfall', { email_validation: 'None' }],
    ['the action has other ways', 'company_news', {}],
  ])('none where %s', async (_name, action, inputs) => {
    expect(await listWarnings(action, inputs)).toEqual([])
  })

  it('one that has no address of its own', async () => {
    expect(await listWarnings('web_search', { providers: ['SearXNG'] })).toEqual(
      one('providers', code, 'SearXNG: set LOAM_PROVIDER_URL_SEARXNG'),
    )
  })

  it('an action of one provider, until there is a connection', async () => {
    const message = 'Slack is not connected; add it with loam connection add --provider slack'
    expect(await listWarnings('slack_send_message', {})).toEqual(one('connection', code, message))
    expect(await listWarnings('send_email', {})).toEqual(one('connection', code, 'or set LOAM_SMTP_URL'))
    const { store, sealer } = app.services
    await addConnection(store.system, sealer, OPERATOR, {
      orgId: org.orgId,
      provider: slack,
      name: 'Main',
      ownerId: null,
      shared: true,
      fields: { secret: 'xoxb-1' },
    })
    expect(await listWarnings('slack_send_message', {})).toEqual([])
    expect(await listWarnings('slack_send_message', { connection: 'main' })).toEqual([])
    expect(await listWarnings('slack_send_message', { connection: '{{input.email}}' })).toEqual([])
    expect(await listWarnings('slack_send_message', { connection: 'Other' })).toEqual(
      one('connection', code, 'there is no connection "Other" to Slack; add it with'),
    )
  })
})

describe('D77: what can be seen to be wrong is a warning with its place', () => {
  it.each([
    ['1 +', 'does not parse: it ends too early'],
    ['({{input.email}} ?? "").trim(', 'does not parse: it ends too early'],
    ['{{input.email}} {{input.email}}.b', 'in line 1 near "{{input.email}}.b"'],
    ['[1,\n  2 3]', 'does not parse in line 2 near "3]": Unexpected number'],
    ['const x = 1', 'does not parse'],
    ['/{{input.email}}/', 'use new RegExp'],
  ])('the formula %j', async (data_formatter, message) => {
    expect(await listWarnings('format_data_using_js_expression', { data_formatter })).toEqual(
      one('data_formatter', 'invalid_formula', message),
    )
  })

  it.each([
    '{{input.email}}',
    '({{input.email}} ?? "").trim() // its text',
    '`${1}{{input.email}}`',
    '/a/.test("a")',
    '',
  ])('none for the formula %j', async (data_formatter) => {
    expect(await listWarnings('format_data_using_js_expression', { data_formatter })).toEqual([])
  })

  it.each(['gpt-99', 'anthropic/claude'])('the model %s, which is not offered', async (model) => {
    const [warning, ...others] = await listWarnings('ai_generate', { model })
    expect([warning, others]).toMatchObject([{ field: 'inputs.model', code: 'model_not_offered' }, []])
    expect(warning.message).toContain(`"${model}"`)
  })

  it.each(['llama3.2', '{{input.email}}'])('none for the model %s', async (model) => {
    expect(await listWarnings('ai_generate', { model })).toEqual([])
  })

  it.each<[string, string, Record<string, unknown>]>([
    ['http_api_call', 'endpoint', { endpoint: 'api.acme.com/v1' }],
    ['http_api_call', 'endpoint', { endpoint: 'htp://api.acme.com' }],
    ['http_api_call', 'endpoint', { endpoint: 'https://' }],
    ['http_api_call', 'endpoint', { endpoint: 'https://a b/{{input.email}}' }],
    ['send_webhook', 'url', { url: 'acme' }],
    ['scrape_website', 'url', { url: 'not an address' }],
  ])('%s: %s of %j', async (action, field, inputs) => {
    expect(await listWarnings(action, inputs)).toEqual(one(field, 'invalid_url', 'cannot be an address'))
  })

  it('an email address', async () => {
    const found = await listWarnings('verify_email', { email: 'ann at acme.com' })
    expect(found).toEqual(one('email', 'invalid_email', 'cannot be an email address'))
    expect(await listWarnings('verify_email', { email: 'ann@acme.com' })).toEqual([])
  })

  it.each<[string, Record<string, unknown>]>([
    ['http_api_call', { endpoint: 'https://{{input.email}}:{{input.email}}/a?b={{input.email}}' }],
    ['http_api_call', { endpoint: '{{input.email}}/v1' }],
    ['scrape_website', { url: 'acme.com/about' }],
    ['send_webhook', { url: 'http://127.0.0.1:9000/x' }],
  ])('none for %s with %j', async (action, inputs) => {
    expect(await listWarnings(action, inputs)).toEqual([])
  })
})
