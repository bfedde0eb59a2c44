import { describe, expect, it } from 'vitest'
import { type Reply, type Seen, serveDouble } from '../../catalog/testing/provider-double.ts'
import { loadSources } from '../registry.ts'
import { listOptions } from '../testing/list-options.ts'
import { pullSource } from '../testing/pull-source.ts'

const SPREADSHEET = '1AbcDefGhiJklMnoPqr'
const NOTION = '0123456789abcdef0123456789abcdef'
const BASE = 'appAbcDefGhiJkl'

/** A valid body for each source. */
const BODIES: Record<string, Record<string, unknown>> = {
  hubspot: { object_type: 'contacts', properties: ['email'] },
  salesforce: { object: 'Contact', fields: ['Email'] },
  pipedrive: { object: 'deals' },
  attio: { object: 'people' },
  google_sheets: { spreadsheet_id: SPREADSHEET, sheet_name: 'Leads' },
  slack: { channels: ['C01AAA'] },
  typeform: { form_id: 'u6nXL7' },
  fireflies: {},
  airtable: { base: BASE, table: 'Leads' },
  notion: { database: NOTION },
}

describe('sources of systems that are connected', () => {
  it.each(Object.entries(BODIES))(
    'without a connection to %s, says what to connect and how',
    async (id, body) => {
      await expect(pullSource(`import_from_${id}`, body, { fields: null })).rejects.toThrow(
        new RegExp(`^connection_id: import_from_${id} needs .+loam connection add --provider ${id}`),
      )
    },
  )

  it.each(Object.entries(BODIES))('import_from_%s is imported once or by schedule', async (id, body) => {
    const source = (await loadSources()).get(`import_from_${id}`)
    expect(source?.mode).toBe('either')
    const { origin } = await serveDouble(() => ({ status: 503 }))
    const pulled = await pullSource(
      `import_from_${id}`,
      { ...body, schedule: 'hourly', pull_existing: false, name: 'A source', max_count: 5 },
      { urls: { [id]: origin } },
    )
    expect(pulled.refusal).toMatchObject({ kind: 'error', transient: true })
  })
})

type Case = [
  slug: string,
  field: string,
  context: Record<string, string>,
  asked: string,
  json: unknown,
  options: unknown,
]

describe('options', () => {
  it.each<Case>([
    [
      'hubspot',
      'hubspot_lists',
      {},
      'POST /crm/v3/lists/search',
      { lists: [{ listId: '7', name: 'Customers', objectTypeId: '0-1' }], hasMore: false, offset: 1 },
      [{ value: '7', label: 'Customers', extras: { object_type: '0-1' } }],
    ],
    [
      'hubspot',
      'hubspot_properties',
      { object_type: 'contacts' },
      'GET /crm/v3/properties/contacts',
      { results: [{ name: 'email', label: 'Email', type: 'string', hasUniqueValue: true }] },
      [{ value: 'email', label: 'Email', extras: { type: 'string', unique: true } }],
    ],
    [
      'salesforce',
      'salesforce_objects',
      {},
      'GET /services/data/v59.0/sobjects',
      { sobjects: [{ name: 'Account', label: 'Account', custom: false }] },
      [{ value: 'Account', label: 'Account', extras: { custom: false } }],
    ],
    [
      'salesforce',
      'salesforce_properties',
      { object: 'Account' },
      'GET /services/data/v59.0/sobjects/Account/describe',
      { fields: [{ name: 'Name', label: 'Account name', type: 'string' }] },
      [
        {
          value: 'Name',
          label: 'Account name',
          extras: { type: 'string', required: false, external_id: false },
        },
      ],
    ],
    [
      'pipedrive',
      'properties',
      { object: 'deals' },
      'GET /api/v2/dealFields',
      { data: [{ field_code: 'title', field_name: 'Title', field_type: 'varchar' }] },
      [{ value: 'title', label: 'Title', extras: { type: 'varchar' } }],
    ],
    [
      'attio',
      'object',
      {},
      'GET /v2/objects',
      { data: [{ api_slug: 'people', plural_noun: 'People' }] },
      [{ value: 'people', label: 'People' }],
    ],
    [
      'attio',
      'properties',
      { object: 'people' },
      'GET /v2/objects/people/attributes',
      { data: [{ api_slug: 'name', title: 'Name', type: 'personal-name', is_archived: false }] },
      [{ value: 'name', label: 'Name', extras: { type: 'personal-name' } }],
    ],
    [
      'google_sheets',
      'spreadsheet_id',
      {},
      'GET /drive/v3/files',
      { files: [{ id: SPREADSHEET, name: 'Leads' }] },
      [{ value: SPREADSHEET, label: 'Leads' }],
    ],
    [
      'google_sheets',
      'sheet_name',
      { spreadsheet_id: SPREADSHEET },
      `GET /v4/spreadsheets/${SPREADSHEET}`,
      { sheets: [{ properties: { title: 'Sheet1' } }] },
      [{ value: 'Sheet1', label: 'Sheet1' }],
    ],
    [
      'slack',
      'channels',
      {},
      'GET /conversations.list',
      {
        ok: true,
        channels: [{ id: 'C01AAA', name: 'sales', is_member: true }],
        response_metadata: { next_cursor: '' },
      },
      [{ value: 'C01AAA', label: '#sales', extras: { is_member: true } }],
    ],
    [
      'typeform',
      'form_id',
      {},
      'GET /forms',
      { items: [{ id: 'u6nXL7', title: 'Contact us' }] },
      [{ value: 'u6nXL7', label: 'Contact us' }],
    ],
    [
      'typeform',
      'form_fields',
      { form_id: 'u6nXL7' },
      'GET /forms/u6nXL7',
      { fields: [{ id: 'f1', ref: 'mail', title: 'Your mail', type: 'email' }] },
      [{ value: 'mail', label: 'Your mail', extras: { type: 'email' } }],
    ],
    [
      'airtable',
      'base',
      {},
      'GET /v0/meta/bases',
      { bases: [{ id: BASE, name: 'CRM' }] },
      [{ value: BASE, label: 'CRM' }],
    ],
    [
      'airtable',
      'fields',
      { base: BASE, table: 'Leads' },
      `GET /v0/meta/bases/${BASE}/tables`,
      { tables: [{ id: 'tbl1', name: 'Leads', fields: [{ name: 'Name', type: 'singleLineText' }] }] },
      [{ value: 'Name', label: 'Name', extras: { type: 'singleLineText' } }],
    ],
    [
      'notion',
      'database',
      {},
      'POST /v1/search',
      { results: [{ object: 'data_source', id: NOTION, title: [{ plain_text: 'Leads' }] }] },
      [{ value: NOTION, label: 'Leads' }],
    ],
    [
      'notion',
      'fields',
      { database: NOTION },
      `GET /v1/data_sources/${NOTION}`,
      { properties: { Name: { id: 'title', type: 'title' } } },
      [{ value: 'Name', label: 'Name', extras: { type: 'title' } }],
    ],
  ])('of %s: %s %j', async (id, field, context, asked, json, options) => {
    const answer = ({ method, path }: Seen): Reply =>
      `${method} ${path}` === asked ? { json } : { status: 404 }
    const { origin } = await serveDouble(answer)
    const listed = await listOptions(`import_from_${id}`, field, context, { urls: { [id]: origin } })
    expect(listed).toEqual({ ok: true, body: options })
  })

  it.each([
    ['pipedrive', 'properties', { object: 'users' }],
    ['attio', 'properties', { object: '..' }],
    ['google_sheets', 'sheet_name', { spreadsheet_id: '../../x' }],
    ['typeform', 'form_fields', { form_id: 'a/b' }],
    ['airtable', 'table', { base: '..' }],
    ['notion', 'fields', { database: '..' }],
  ])('of %s: %s %j is refused before anything is asked', async (id, field, context) => {
    const { origin, seen } = await serveDouble(() => ({ json: {} }))
    const listed = await listOptions(`import_from_${id}`, field, context, { urls: { [id]: origin } })
    expect(listed).toMatchObject({ ok: false, refusal: { kind: 'ineligible' } })
    expect(seen).toEqual([])
  })

  it.each([
    ['hubspot', 'hubspot_properties', { object_type: '../systems/x' }, 'context.object_type'],
    ['salesforce', 'salesforce_properties', { object: 'a/b' }, 'context.object'],
  ])('of %s: %s %j is a 400 that names %s', async (id, name, context, field) => {
    const listed = listOptions(`import_from_${id}`, name, context, {})
    await expect(listed).rejects.toMatchObject({
      details: { errors: [{ field, message: expect.stringContaining('is not a value that') }] },
    })
  })
})
