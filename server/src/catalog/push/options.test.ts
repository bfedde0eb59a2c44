import { describe, expect, it } from 'vitest'
import { createKey } from '../provider/access.ts'
import type { OptionQuery } from '../provider/options.ts'
import { makeAskContext, type Reply, serveDouble } from '../testing/provider-double.ts'
import { AIRTABLE_OPTIONS } from './airtable.ts'
import { ATTIO_OPTIONS } from './attio.ts'
import { CAMPAIGN_OPTIONS } from './campaigns.ts'
import { GOOGLE_SHEETS_OPTIONS } from './google-sheets.ts'
import { NOTION_OPTIONS } from './notion-properties.ts'
import { PIPEDRIVE_OPTIONS } from './pipedrive.ts'
import { SNOWFLAKE_OPTIONS } from './snowflake.ts'

const QUERIES: Readonly<Record<string, OptionQuery>> = {
  ...AIRTABLE_OPTIONS,
  ...ATTIO_OPTIONS,
  ...CAMPAIGN_OPTIONS,
  ...GOOGLE_SHEETS_OPTIONS,
  ...NOTION_OPTIONS,
  ...PIPEDRIVE_OPTIONS,
  ...SNOWFLAKE_OPTIONS,
}
const BASE = 'appA1B2C3D4E5F6G7'
const SHEET = 'sheet-0123456789'
const NOTION = '0123456789abcdef0123456789abcdef'
const HASH = 'a'.repeat(40)
const tables = { tables: [{ id: 'tbl1', name: 'Leads', fields: [{ name: 'Email', type: 'email' }] }] }
const attributes = {
  data: [
    { api_slug: 'domains', title: 'Domains', type: 'domain', is_unique: true, is_writable: true },
    { api_slug: 'created_at', title: 'Created', type: 'timestamp', is_writable: false },
    { api_slug: 'old', title: 'Old', type: 'text', is_archived: true },
  ],
}
const fields = {
  data: [
    { field_code: 'email', field_name: 'Email' },
    { field_code: 'add_time', field_name: 'Created' },
    { field_code: HASH, field_name: 'Tier' },
  ],
}
const shown = {
  resultSetMetaData: { rowType: [{ name: 'created_on' }, { name: 'name' }] },
  data: [['x', 'LEADS']],
}

type Case = [
  query: string,
  given: [parent?: string, within?: string],
  reply: unknown,
  asked: string | string[],
  values: string[],
]
const CASES: Case[] = [
  ['Airtable bases', [], { bases: [{ id: BASE, name: 'Sales' }] }, 'GET /v0/meta/bases', [BASE]],
  ['Airtable tables', [BASE], tables, `GET /v0/meta/bases/${BASE}/tables`, ['tbl1']],
  ['Airtable fields', ['Leads', BASE], tables, `GET /v0/meta/bases/${BASE}/tables`, ['Email']],
  [
    'Attio objects',
    [],
    { data: [{ api_slug: 'people', plural_noun: 'People' }] },
    'GET /v2/objects',
    ['people'],
  ],
  ['writable Attio attributes', ['people'], attributes, 'GET /v2/objects/people/attributes', ['domains']],
  ['unique Attio attributes', ['people'], attributes, 'GET /v2/objects/people/attributes', ['domains']],
  ['Smartlead campaigns', [], [{ id: 12, name: 'Spring', status: 'ACTIVE' }], 'GET /campaigns', ['12']],
  ['Instantly campaigns', [], { items: [{ id: 'c1', name: 'Spring', status: 1 }] }, 'GET /campaigns', ['c1']],
  ['Google spreadsheets', [], { files: [{ id: SHEET, name: 'Leads' }] }, 'GET /drive/v3/files', [SHEET]],
  [
    'sheets of a Google spreadsheet',
    [SHEET],
    { sheets: [{ properties: { title: 'Tab' } }] },
    `GET /v4/spreadsheets/${SHEET}`,
    ['Tab'],
  ],
  [
    'columns of a Google sheet',
    ['Tab', SHEET],
    { values: [['Email', '', 'Size']] },
    `GET /v4/spreadsheets/${SHEET}/values/'Tab'!1:1`,
    ['Email', 'Size'],
  ],
  ['Notion databases', [], { results: [{ id: NOTION, title: [] }] }, 'POST /v1/search', [NOTION]],
  [
    'writable Notion properties',
    [NOTION],
    { data_sources: [{ id: 'ds-1' }], properties: { Name: { type: 'title' }, Sum: { type: 'formula' } } },
    [`GET /v1/databases/${NOTION}`, 'GET /v1/data_sources/ds-1'],
    ['Name'],
  ],
  ['Pipedrive fields', ['persons'], fields, 'GET /api/v2/personFields', ['add_time', 'email', HASH]],
  ['searchable Pipedrive fields', ['persons'], fields, 'GET /api/v2/personFields', ['email', HASH]],
  ['Snowflake warehouses', [], shown, 'POST /api/v2/statements', ['LEADS']],
  ['Snowflake databases', [], shown, 'POST /api/v2/statements', ['LEADS']],
  ['Snowflake schemas', ['DB'], shown, 'POST /api/v2/statements', ['LEADS']],
  ['Snowflake tables', ['PUBLIC', 'DB'], shown, 'POST /api/v2/statements', ['LEADS']],
]

async function ask(name: string, [parent = '', within = '']: Case[1], reply: Reply) {
  const query = QUERIES[name]
  if (query === undefined) throw new Error(`there is no query ${name}`)
  const { origin, seen } = await serveDouble(() => reply)
  const context = makeAskContext({ [query.provider.id]: origin })
  const key = createKey('own', { secret: 'a-key-0123456789' })
  const fits = [query.parent?.fits(parent) ?? true, query.within?.fits(within) ?? true]
  const answer = await query.list(
    (request, schema) => query.provider.request(context, key, request, schema),
    parent,
    within,
  )
  return { answer, seen, fits }
}

describe('4.5 dropdowns of systems that are written to are resolved from the connection', () => {
  it.each(CASES)('%s', async (name, given, json, asked, values) => {
    const { answer, seen, fits } = await ask(name, given, { json })
    expect(seen.map(({ method, path }) => `${method} ${decodeURIComponent(path)}`)).toEqual([asked].flat())
    expect(answer.ok && answer.body.map(({ value }) => value)).toEqual(values)
    expect(fits).toEqual([true, true])
    const refused = await ask(name, given, { status: 401 })
    expect(refused.answer).toMatchObject({ ok: false, refusal: { kind: 'unconfigured' } })
  })

  it('every dropdown query has a case', () => {
    expect(CASES.map(([name]) => name).sort()).toEqual(Object.keys(QUERIES).sort())
  })

  it.each([
    ['Airtable tables', '../x'],
    ['unique Attio attributes', 'a/b'],
    ['sheets of a Google spreadsheet', '..'],
    ['writable Notion properties', 'x'],
    ['Pipedrive fields', 'leads'],
    ['Snowflake schemas', 'a"; drop'],
  ])('%s are not asked for by %s', (name, value) => {
    expect(QUERIES[name]?.parent?.fits(value)).toBe(false)
  })
})
