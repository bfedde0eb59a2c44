import { describe, expect, it } from 'vitest'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { makeChain } from '../../../api/testing/chain.ts'

const app = await makeApp()
const org = await app.makeOrg()

type Column = { name: string; type: string }
const column = (name: string, type = 'string'): Column => ({ name, type })

async function makeSheet(columns: Column[], rows: Record<string, unknown>[] = []) {
  const chain = await makeChain(app, org, columns)
  if (rows.length > 0) expect((await org.call('POST', `${chain.sheet}/rows`, { rows })).status).toBe(201)
  const suggest = async (): Promise<Json[]> => {
    const { status, body } = await chain.call('GET', '/suggestions')
    expect([status, body.errors]).toEqual([200, undefined])
    return body.data
  }
  return { chain, suggest }
}

describe('H8: GET S/actions/suggestions', () => {
  it.each<[string, Column[], Record<string, unknown>[], string, string, Json]>([
    [
      'by values',
      [column('Website'), column('b')],
      [{ Website: 'https://www.stripe.com/', b: 'x' }, { Website: 'acme.example/' }, { Website: '' }],
      'normalize_domain',
      '"Website" holds addresses',
      { value: '{{input.Website}}' },
    ],
    [
      'by values in many forms, with a second column for rows without the first',
      [column('Website'), column('Mail')],
      [
        { Website: 'https://www.a.example/about', Mail: 'ann@a.example' },
        { Website: 'b.example', Mail: '' },
        { Website: 'HTTP://c.example' },
        { Website: '', Mail: 'dan@d.example' },
      ],
      'normalize_domain',
      '"Website" and "Mail" hold addresses',
      { value: '{{input.Website}} {{input.Mail}}' },
    ],
    [
      'by a column that most rows lack',
      [column('Name'), column('domain'), column('Email')],
      [
        { Name: 'Ada Lovelace', domain: 'a.example', Email: 'ada@a.example' },
        { Name: 'Alan Turing', domain: 'b.example', Email: '' },
        { Name: 'Grace Hopper', domain: 'c.example', Email: '' },
      ],
      'person_work_email_waterfall',
      '"Name" and "domain" tell who works where',
      { full_name: '{{input.Name}}', company_domain: '{{input.domain}}' },
    ],
    [
      'by type, without rows',
      [column('Where', 'url')],
      [],
      'normalize_domain',
      '"Where" holds addresses',
      { value: '{{input.Where}}' },
    ],
    [
      'by name, without rows',
      [column('work_email')],
      [],
      'verify_email',
      '"work_email" holds email addresses',
      { email: '{{input.work_email}}' },
    ],
    [
      'by values against a misleading name',
      [column('email')],
      [{ email: '+1 (415) 555-0100' }, { email: '+49 30 123456' }],
      'parse_phone_number',
      '"email" holds phone numbers',
      { value: '{{input.email}}' },
    ],
    [
      'by several columns',
      [column('first name'), column('Last Name'), column('domain')],
      [{ 'first name': 'Ada', 'Last Name': 'Lovelace', domain: 'acme.com' }],
      'person_work_email_waterfall',
      '"first name", "Last Name" and "domain" tell who works where',
      { full_name: '{{input.first name}} {{input.Last Name}}', company_domain: '{{input.domain}}' },
    ],
    [
      'a few odd values among many',
      [column('Profile')],
      ['https://linkedin.com/in/ada', 'n/a', 'www.linkedin.com/in/bob'].map((Profile) => ({ Profile })),
      'enrich_person_linkedin_profile',
      '"Profile" holds LinkedIn profiles',
      { linkedin_url: '{{input.Profile}}' },
    ],
    [
      'repeated values',
      [column('Mail', 'email')],
      [{ Mail: 'a@b.example' }, { Mail: 'A@b.example ' }],
      'auto_dedupe_rows',
      '"Mail" has repeated values',
      { auto_dedupe_columns: ['{{input.Mail}}'] },
    ],
    [
      'lists as JSON',
      [column('items')],
      [{ items: '[{"a": 1}]' }],
      'raw_to_structured_array',
      '"items" holds lists as JSON',
      { array: '{{input.items}}' },
    ],
  ])('suggests %s', async (_what, columns, rows, action_id, reason, inputs) => {
    const { suggest } = await makeSheet(columns, rows)
    expect(await suggest()).toContainEqual({ action_id, reason, inputs })
  })

  it('each can be added as it is, without a warning about its columns, at most 8, none twice', async () => {
    const kinds = ['Company', 'Website', 'Full name', 'LinkedIn', 'Phone', 'Company LinkedIn', 'Notes']
    const row = {
      Company: 'Acme',
      Website: 'https://acme.com',
      'Full name': 'Ada Lovelace',
      LinkedIn: 'https://www.linkedin.com/in/ada',
      Phone: '+4930123456',
      'Company LinkedIn': 'https://www.linkedin.com/company/acme',
      Notes: 'A long note. '.repeat(30),
    }
    const { chain, suggest } = await makeSheet(
      kinds.map((name) => column(name)),
      [row, row],
    )
    const seen = new Set<string>()
    for (let round = 0; round < 3; round += 1) {
      const suggested = await suggest()
      expect(suggested.length).toBeLessThanOrEqual(8)
      if (round === 0) expect(suggested.length).toBe(8)
      for (const { action_id, inputs, reason } of suggested) {
        expect([action_id, seen.has(action_id)]).toEqual([action_id, false])
        seen.add(action_id)
        expect(reason).toMatch(/^".+" [a-z]/)
        const { status, body } = await chain.call('POST', '/add', { action_id, inputs })
        expect([action_id, status]).toEqual([action_id, 201])
        const codes = body.warnings.map(({ code, field }: Json) => `${code} ${field}`)
        const expected = /^provider_not_configured|^required_field_missing inputs\.(model|output_format)$/
        expect(codes.filter((code: string) => !expected.test(code))).toEqual([])
      }
    }
    expect(seen.size).toBeGreaterThan(10)
  })

  it('outputs of actions count by their names: a domain that was extracted leads to companies', async () => {
    const { chain, suggest } = await makeSheet([column('Website', 'url')])
    await chain.add('normalize_domain', { name: 'Clean', inputs: { value: '{{input.Website}}' } })
    expect(await suggest()).toContainEqual({
      action_id: 'enrich_company',
      reason: '"Clean › domain" leads to companies',
      inputs: { domain: '{{normalize_domain_1.domain}}' },
    })
  })

  it('nothing to go by gives nothing; hostile names and values do no harm', async () => {
    expect(await (await makeSheet([])).suggest()).toEqual([])
    expect(await (await makeSheet([column('notes')], [{ notes: 'x' }])).suggest()).toEqual([])
    const names = ['__proto__', 'constructor', '"quoted" e-mail', 'a.b', 'toString']
    const { suggest } = await makeSheet(
      names.map((name) => column(name)),
      [
        Object.fromEntries(
          names.map((name) => [
            name,
            name === '"quoted" e-mail' ? 'ann@acme.example' : `${'a'.repeat(200_000)}@`,
          ]),
        ),
      ],
    )
    expect((await suggest()).map(({ action_id }) => action_id)).toEqual(['verify_email', 'normalize_domain'])
  })

  it('needs actions:read and the sheet: others find nothing', async () => {
    const { chain } = await makeSheet([column('email')])
    const path = `${chain.sheet}/actions/suggestions`
    const key = await org.keyFor(org.adminEmail, 'admin', { scopes: ['workflows:read'] })
    expect((await app.call(key, 'GET', path)).status).toBe(403)
    const stranger = await app.makeOrg()
    expect((await stranger.call('GET', path)).status).toBe(404)
    expect((await app.call(null, 'GET', path)).status).toBe(401)
  })
})
