import { describe, expect, it } from 'vitest'
import { printSeen, runAt } from '../testing/crm.ts'
import type { Reply, Seen } from '../testing/provider-double.ts'
import { useActions } from '../testing/run-action.ts'

const runAction = useActions()
const NOW = new Date('2026-03-01T12:00:00Z')
const row = {
  input: { email: 'ann@acme.example', size: 12, none: null, tags: ['a', 'b'], site: 'acme.example' },
}

type Inputs = Record<string, unknown>
const run = (action: string, inputs: Inputs, answer: (seen: Seen, place: number) => Reply, more = {}) =>
  runAt(runAction, [action, inputs], answer, { row, now: NOW, ...more })
const values = (...pairs: [string, unknown][]) => pairs.map(([name, value]) => ({ name, value }))

describe('attio_upsert_record', () => {
  const inputs = {
    object: 'companies',
    match_field: 'domains',
    values: values(['domains', '{{input.site}}'], ['tags', '{{input.tags}}'], ['city', '{{input.none}}']),
  }
  const record = (created_at: string) => ({
    json: { data: { id: { record_id: 'r1' }, created_at, web_url: 'https://app.attio.com/x/company/r1' } },
  })

  it('writes by a unique attribute in one call', async () => {
    const { outcome, asked } = await run('attio_upsert_record', inputs, () =>
      record('2026-03-01T12:00:00.5Z'),
    )
    expect(asked.map(printSeen)).toEqual([
      [
        'PUT /v2/objects/companies/records?matching_attribute=domains',
        { data: { values: { domains: 'acme.example', tags: ['a', 'b'] } } },
      ],
    ])
    expect(outcome).toMatchObject({
      kind: 'done',
      outputs: { record_id: 'r1', url: 'https://app.attio.com/x/company/r1', created: true },
    })
    const known = await run('attio_upsert_record', inputs, () => record('2024-01-01T00:00:00Z'))
    expect(known.outcome).toMatchObject({ outputs: { created: false } })
  })

  it.each<[Inputs, RegExp]>([
    [{ object: 'a/../b' }, /is not a slug/],
    [{ match_field: 'city' }, /city has no value/],
  ])('%j never leaves', async (wrong, message) => {
    const { outcome, asked } = await run('attio_upsert_record', { ...inputs, ...wrong }, () => ({}))
    expect(outcome).toMatchObject({ kind: 'unrunnable', message: expect.stringMatching(message) })
    expect(asked).toEqual([])
  })
})

describe('airtable_upsert_record', () => {
  const inputs = {
    base: 'appA1B2C3D4E5F6G7',
    table: 'tblLeads1',
    match_fields: ['Email'],
    values: values(['Email', '{{input.email}}'], ['Size', '{{input.size}}']),
  }

  it('lets Airtable merge by fields and reports whether it created the record', async () => {
    const { outcome, asked } = await run('airtable_upsert_record', inputs, () => ({
      json: { records: [{ id: 'rec1', fields: {} }], createdRecords: ['rec1'], updatedRecords: [] },
    }))
    expect(asked.map(printSeen)).toEqual([
      [
        'PATCH /v0/appA1B2C3D4E5F6G7/tblLeads1',
        {
          performUpsert: { fieldsToMergeOn: ['Email'] },
          records: [{ fields: { Email: 'ann@acme.example', Size: 12 } }],
          typecast: true,
        },
      ],
    ])
    expect(outcome).toMatchObject({
      outputs: { id: 'rec1', created: true, url: 'https://airtable.com/appA1B2C3D4E5F6G7/tblLeads1/rec1' },
    })
  })

  it('several matching records fail with the message of Airtable', async () => {
    const { outcome } = await run('airtable_upsert_record', inputs, () => ({
      status: 422,
      json: { error: { type: 'INVALID_REQUEST', message: 'Cannot update more than one record' } },
    }))
    expect(outcome).toMatchObject({ kind: 'failed', message: expect.stringMatching(/more than one record/) })
  })

  it.each<[Inputs, RegExp]>([
    [{ base: 'nope' }, /id of a base/],
    [{ table: '..' }, /table must be/],
    [{ match_fields: ['a', 'b', 'c', 'd'] }, /1 to 3 fields/],
    [{ match_fields: ['City'] }, /City has no value/],
  ])('%j never leaves', async (wrong, message) => {
    const { outcome, asked } = await run('airtable_upsert_record', { ...inputs, ...wrong }, () => ({}))
    expect(outcome).toMatchObject({ kind: 'unrunnable', message: expect.stringMatching(message) })
    expect(asked).toEqual([])
  })
})

describe('snowflake_insert_row', () => {
  const inputs = {
    table: 'SALES.PUBLIC.LEADS',
    warehouse: 'WH',
    values: values(['EMAIL', '{{input.email}}'], ['My tags', '{{input.tags}}'], ['SIZE', '{{input.size}}']),
  }

  it('binds values, and names the request so that Snowflake runs it once', async () => {
    const ended: Reply = { json: { statementHandle: 'h1', resultSetMetaData: {}, data: [['1']] } }
    const first = await run('snowflake_insert_row', inputs, () => ended, { cellRun: 'run/row/a' })
    const [seen] = first.asked
    expect(JSON.parse(seen?.body ?? '')).toEqual({
      statement: 'insert into SALES.PUBLIC.LEADS (EMAIL, "My tags", SIZE) select ?, parse_json(?), ?',
      bindings: {
        1: { type: 'TEXT', value: 'ann@acme.example' },
        2: { type: 'TEXT', value: '["a","b"]' },
        3: { type: 'TEXT', value: '12' },
      },
      warehouse: 'WH',
      timeout: 60,
    })
    expect(seen?.query).toEqual({
      requestId: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      retry: 'true',
    })
    expect(first.outcome).toMatchObject({ kind: 'done', outputs: { id: 'h1', rows: 1 } })
    const again = await run('snowflake_insert_row', inputs, () => ended, { cellRun: 'run/row/a' })
    const other = await run('snowflake_insert_row', inputs, () => ended, { cellRun: 'run/row2/a' })
    expect(again.asked[0]?.query['requestId']).toBe(seen?.query['requestId'])
    expect(other.asked[0]?.query['requestId']).not.toBe(seen?.query['requestId'])
  })

  it('a running statement is polled by its handle', async () => {
    const { outcome } = await run('snowflake_insert_row', inputs, () => ({
      status: 202,
      json: { statementHandle: 'h1', message: 'in progress' },
    }))
    expect(outcome).toMatchObject({ kind: 'wait', state: { handle: 'h1', polls: 1 } })
    const state = { handle: 'h1', polls: 1 }
    const later = await run(
      'snowflake_insert_row',
      inputs,
      () => ({ json: { statementHandle: 'h1', resultSetMetaData: {}, data: [['1']] } }),
      { state },
    )
    expect(later.asked.map((seen) => printSeen(seen)[0])).toEqual(['GET /api/v2/statements/h1'])
    expect(later.outcome).toMatchObject({ outputs: { id: 'h1', rows: 1 } })
  })

  it.each<[Inputs, RegExp]>([
    [{ table: 'a; drop table b' }, /table must be a name/],
    [{ values: values(['a" , b', 'x']) }, /not the name of a column/],
    [{ values: values(['a', '']) }, /nothing to write/],
  ])('%j never leaves', async (wrong, message) => {
    const { outcome, asked } = await run('snowflake_insert_row', { ...inputs, ...wrong }, () => ({}))
    expect(outcome).toMatchObject({ kind: 'unrunnable', message: expect.stringMatching(message) })
    expect(asked).toEqual([])
  })
})

describe('smartlead_add_lead', () => {
  const inputs = {
    campaign: '12',
    email: '{{input.email}}',
    first_name: 'Ann',
    custom_fields: values(['site', '{{input.site}}'], ['none', '{{input.none}}']),
  }
  const add = (json: object) =>
    run('smartlead_add_lead', inputs, ({ method }) => (method === 'POST' ? { json } : { json: { id: 77 } }))

  it('adds a lead once, and reports a lead that already exists', async () => {
    const { outcome, asked } = await add({ ok: true, upload_count: 1, total_leads: 1 })
    expect(asked.map(printSeen)).toMatchObject([
      [
        'POST /campaigns/12/leads?api_key=crm-token-0123456789',
        {
          lead_list: [
            { email: 'ann@acme.example', first_name: 'Ann', custom_fields: { site: 'acme.example' } },
          ],
        },
      ],
      ['GET /leads/?email=ann%40acme.example&api_key=crm-token-0123456789', undefined],
    ])
    expect(outcome).toMatchObject({ kind: 'done', outputs: { id: '77', created: true } })
    expect((await add({ ok: true, upload_count: 1, inserted_count: 1 })).outcome).toMatchObject({
      outputs: { created: true },
    })
    const known = await add({
      upload_count: 1,
      total_leads: 0,
      already_added_to_campaign: 1,
      duplicate_count: 1,
    })
    expect(known.outcome).toMatchObject({ outputs: { id: '77', created: false } })
  })

  it.each<[object, RegExp]>([
    [{ total_leads: 0, invalid_email_count: 1 }, /not valid/],
    [{ total_leads: 0, unsubscribed_leads: ['ann@acme.example'] }, /unsubscribed/],
    [{ total_leads: 0, block_count: 1 }, /block list/],
    [{ total_leads: 0, is_lead_limit_exhausted: true }, /limit of leads/],
    [{ total_leads: 0 }, /was not taken/],
    [{ upload_count: 1 }, /was not taken/],
    [{ upload_count: 1, total_leads: 0, duplicate_count: 1 }, /another campaign \(duplicate_count\)/],
    [{ upload_count: 1, total_leads: 1, blocked_count: 1 }, /block list \(blocked_count\)/],
    [{ upload_count: 1, total_leads: 0, bounce_count: 1 }, /bounced/],
    [{ upload_count: 1, total_leads: 0, skipped_in_other_campaign_count: 1 }, /another campaign/],
    [{ upload_count: 1, total_leads: 0, lead_import_stopped_count: 1 }, /import of leads is stopped/],
    [{ upload_count: 1, total_leads: 0, unsubscribed_leads: 1 }, /unsubscribed/],
  ])('%j is a failure, although it is answered 200', async (json, message) => {
    expect((await add(json)).outcome).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(message),
    })
  })
})

describe('instantly_add_lead', () => {
  const campaign = '01a14549-bd67-7b6b-a7c0-add14d390c6e'
  const inputs = { campaign, email: '{{input.email}}', custom_fields: values(['site', '{{input.site}}']) }

  it('adds a lead, and finds one that is already in the campaign', async () => {
    const added = await run('instantly_add_lead', inputs, () => ({
      json: { id: 'l1', email: 'ann@acme.example' },
    }))
    expect(added.asked.map(printSeen)).toEqual([
      [
        'POST /leads',
        {
          campaign,
          email: 'ann@acme.example',
          custom_variables: { site: 'acme.example' },
          skip_if_in_campaign: true,
        },
      ],
    ])
    expect(added.outcome).toMatchObject({ outputs: { id: 'l1', created: true } })
    const known = await run('instantly_add_lead', inputs, ({ path }) => ({
      json: path === '/leads' ? {} : { items: [{ id: 'l0', email: 'Ann@acme.example' }] },
    }))
    expect(known.asked.map(printSeen)[1]).toEqual([
      'POST /leads/list',
      { search: 'ann@acme.example', campaign, limit: 10 },
    ])
    expect(known.outcome).toMatchObject({ outputs: { id: 'l0', created: false } })
  })

  it.each<[Inputs, RegExp]>([
    [{ campaign: '../x' }, /id of a campaign/],
    [{ email: 'nobody' }, /is not an address/],
  ])('%j never leaves', async (wrong, message) => {
    const { outcome, asked } = await run('instantly_add_lead', { ...inputs, ...wrong }, () => ({}))
    expect(outcome).toMatchObject({ kind: 'unrunnable', message: expect.stringMatching(message) })
    expect(asked).toEqual([])
  })
})
