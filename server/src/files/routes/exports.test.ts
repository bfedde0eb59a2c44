import { describe, expect, it } from 'vitest'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { type Json, makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { echo, exportsOf } from '../../api/testing/exports.ts'

const app = await makeApp({ services: { catalogue: catalogueOf(echo) } })
await startTestWorker(app)
const org = await app.makeOrg()
const { addRows, makeSheet } = rowsOf(org)
const { csv, ended, finish, get, start } = exportsOf(app, org)

const UNKNOWN = '01900000-0000-7000-8000-000000000000'
const companies = async (base: string, body: object) => (await csv(base, body)).slice(1).map((row) => row[0])

describe('Export Sheet', () => {
  it('answers 202 with the Export object (D6), which Get Export follows until it is completed', async () => {
    const base = await makeSheet()
    await addRows(base, [{ Company: 'a' }, { Company: 'b' }])
    const made = await org.call('POST', `${base}/export`)
    expect([made.status, made.body]).toEqual([
      202,
      {
        status: 202,
        data: {
          export_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          status: 'running',
          progress: 0,
          row_count: 0,
          started_at: expect.any(String),
          completed_at: null,
        },
      },
    ])
    const record = await ended(base, made.body.data.export_id)
    expect(record).toEqual({
      export_id: made.body.data.export_id,
      status: 'completed',
      progress: 100,
      row_count: 2,
      file_url: expect.stringMatching(/^http:\/\/loam\.test\/files\/[\w-]{96}$/),
      expires_at: expect.any(String),
      started_at: made.body.data.started_at,
      completed_at: expect.any(String),
    })
    const minutes = (Date.parse(record.expires_at) - Date.now()) / 60_000
    expect(Math.round(minutes)).toBe(15)
  })

  it('file_url is re-minted on every poll', async () => {
    const base = await makeSheet()
    const { record } = await finish(base)
    const again = await get(base, record.export_id)
    expect(again.file_url).not.toBe(record.file_url)
    expect(Date.parse(again.expires_at)).toBeGreaterThanOrEqual(Date.parse(record.expires_at))
  })

  it('leaves an entry in the audit log', async () => {
    const base = await makeSheet()
    const { export_id } = await start(base, { format: 'jsonl' })
    const entry = await app.store.system
      .selectFrom('audit_entries')
      .select(['actor', 'details'])
      .where('org_id', '=', org.orgId)
      .where('action', '=', 'sheet.exported')
      .where('target', '=', base.split('/')[2] ?? '')
      .executeTakeFirstOrThrow()
    expect(entry).toEqual({ actor: org.adminEmail, details: { export_id, format: 'jsonl' } })
  })
})

describe('selectors have the same shapes as List Rows (D42)', async () => {
  const base = await makeSheet()
  await org.call('POST', `${base}/actions/add`, {
    action_id: 'echo',
    inputs: { json: '{}' },
  })
  const ids = await addRows(
    base,
    ['a', 'b', 'c', 'd', 'e'].map((Company, n) => ({ Company, employees: n * 10 })),
  )
  await org.call('POST', `${base}/run`, { row_ids: ids.slice(0, 2) })
  await settledRows(org, base)
  const action_instance_id = 'echo_1'
  const more = { variable: '{{input.employees}}', operator: 'greater than', values: ['5'] }

  it.each<[string, object, string]>([
    ['no selector is all', {}, 'abcde'],
    [
      'row_ids, in insertion order, once each; unknown ones are left out',
      { row_ids: [ids[3], ids[1], ids[3], UNKNOWN] },
      'bd',
    ],
    ['row_ids of none', { row_ids: [] }, ''],
    ['exclude_row_ids', { exclude_row_ids: [ids[0], UNKNOWN] }, 'bcde'],
    ['filters', { filters: [more] }, 'bcde'],
    ['filters: [] is no filter', { filters: [] }, 'abcde'],
    ['exclude with filters', { filters: [more], exclude_row_ids: [ids[2], ids[4]] }, 'bd'],
    ['status_filters', { status_filters: [{ action_instance_id, is: ['complete'] }] }, 'ab'],
    ['status_filters with is_not', { status_filters: [{ action_instance_id, is_not: ['complete'] }] }, 'cde'],
    ['created_at', { created_at: { operator: 'less than', values: ['2020-01-01'] } }, ''],
    ['several at once', { filters: [more], status_filters: [{ action_instance_id, is: ['complete'] }] }, 'b'],
  ])('%s', async (_what, body, expected) => {
    expect((await companies(base, body)).join('')).toBe(expected)
  })

  it.each<[string, unknown, string[]]>([
    ['row_ids with filters', { row_ids: [UNKNOWN], filters: [more] }, ['filters']],
    [
      'row_ids with every other selector',
      {
        row_ids: [UNKNOWN],
        filters: [],
        status_filters: [],
        created_at: { operator: 'less than', values: ['2020-01-01'] },
        exclude_row_ids: [],
      },
      ['exclude_row_ids', 'filters', 'status_filters', 'created_at'],
    ],
    ['malformed ids', { row_ids: ['x', UNKNOWN, 1] }, ['row_ids[0]', 'row_ids[2]']],
    ['malformed ids to exclude', { exclude_row_ids: ['x'] }, ['exclude_row_ids[0]']],
    [
      'a filter on an unknown column',
      { filters: [{ ...more, variable: '{{input.nope}}' }] },
      ['filters[0].variable'],
    ],
    [
      'a filter on an output that the sheet does not have',
      { filters: [{ ...more, variable: '{{nothing_1.said}}' }] },
      ['filters[0].variable'],
    ],
    [
      'both or neither of is and is_not',
      {
        status_filters: [
          { action_instance_id },
          { action_instance_id, is: ['complete'], is_not: ['failed'] },
        ],
      },
      ['status_filters[0]', 'status_filters[1]'],
    ],
    [
      'an unknown action',
      { status_filters: [{ action_instance_id: 'filter_9', is: ['complete'] }] },
      ['status_filters[0].action_instance_id'],
    ],
    ['an unknown format', { format: 'pdf' }, ['format']],
    ['a file_name that is no text', { file_name: 7 }, ['file_name']],
    [
      'every failure at once',
      {
        format: 'pdf',
        file_name: 7,
        row_ids: ['x'],
        filters: [
          { ...more, variable: '{{input.nope}}' },
          { ...more, operator: 'equals' },
        ],
        status_filters: [{ action_instance_id: 'filter_9', is: ['done'] }],
      },
      [
        'row_ids[0]',
        'filters[1].operator',
        'status_filters[0].is[0]',
        'file_name',
        'format',
        'filters',
        'status_filters',
        'filters[0].variable',
        'status_filters[0].action_instance_id',
      ],
    ],
    ['no object', [], ['body']],
  ])('400: %s', async (_what, body, fields) => {
    const answer = await org.call('POST', `${base}/export`, body)
    expect([answer.status, answer.body.error, answer.body.message]).toEqual([
      400,
      'Validation Error',
      `${fields.length} validation errors`,
    ])
    expect(answer.body.errors.map((error: Json) => error.field).toSorted()).toEqual(fields.toSorted())
  })

  it('a filter value is only ever a value', async () => {
    const hostile = [`'; drop table rows; --`, `\\'; select 1; --`, `$1 $2`, `{"a","b\\"}`, `E'\\x00'`]
    const rows = hostile.map((Company) => ({ Company }))
    const added = await addRows(base, rows)
    for (const operator of ['is equal to', 'contains any of'] as const) {
      for (const value of hostile) {
        const filters = [{ variable: '{{input.Company}}', operator, values: [value] }]
        expect(await companies(base, { filters })).toEqual([value])
      }
    }
    await org.call('POST', `${base}/rows/delete`, { row_ids: added })
  })

  it('D86: an unknown field is refused', async () => {
    const { status, body } = await org.call('POST', `${base}/export`, { fileName: 'x' })
    expect([status, body.errors]).toEqual([
      400,
      [
        {
          field: 'fileName',
          message:
            'is not known here, and the request is refused because this field may be meant to select rows; did you mean file_name?',
        },
      ],
    ])
  })
})

describe('file_name: base name, non-alphanumerics replaced, capped at 100 characters, default `export`', () => {
  it.each([
    [undefined, 'export'],
    ['', 'export'],
    ['  ', 'export'],
    ['leads', 'leads'],
    [' Q3 leads/2024.final ', 'Q3_leads_2024_final'],
    ['../../etc/passwd', '______etc_passwd'],
    ['a"b\r\nX-Evil: 1', 'a_b__X_Evil__1'],
    ['x'.repeat(150), 'x'.repeat(100)],
  ])('%j is %s', async (file_name, expected) => {
    const { headers } = await finish(await sheet, file_name === undefined ? {} : { file_name })
    expect(headers['content-disposition']).toBe(
      `attachment; filename="${expected}.csv"; filename*=UTF-8''${expected}.csv`,
    )
  })

  it('letters of every script stay, with a plain name beside', async () => {
    const { headers } = await finish(await sheet, { file_name: 'Zürich 日本', format: 'jsonl' })
    expect(headers['content-disposition']).toBe(
      `attachment; filename="Z_rich___.jsonl"; filename*=UTF-8''Z%C3%BCrich_%E6%97%A5%E6%9C%AC.jsonl`,
    )
  })
  const sheet = makeSheet()
})

describe('exports are private to the key’s creator', () => {
  const read = async (key: string, base: string, id: string) =>
    (await app.call(key, 'GET', `${base}/export/${id}`)).status

  it('404 to everyone else, admins included (D61); every key of the same member reads it', async () => {
    const member = await org.keyFor('exporter@example.com', 'member')
    const workflow = (await app.call(member, 'POST', '/workflows', { name: 'Mine' })).body.data.workflow_id
    const base = `/workflows/${workflow}/sheets/${workflow}`
    const made = await app.call(member, 'POST', `${base}/export`)
    const id: string = made.body.data.export_id
    const second = await org.keyFor('exporter@example.com', 'member')
    expect(await Promise.all([member, second, org.key].map((key) => read(key, base, id)))).toEqual([
      200, 200, 404,
    ])
  })

  it('an export of another sheet, an unknown id and a malformed one are 404 (D43)', async () => {
    const base = await makeSheet()
    const { export_id } = await start(base)
    const other = await makeSheet()
    const sheet = (await org.call('POST', `/workflows/${base.split('/')[2]}/sheets`, { name: 'Child' })).body
      .data.sheet_id
    const child = base.replace(/[^/]+$/, sheet)
    const paths: [string, string][] = [
      [other, export_id],
      [child, export_id],
      [base, UNKNOWN],
      [base, 'nonsense'],
      [base, `${export_id}0`],
    ]
    expect(await Promise.all(paths.map(([at, id]) => read(org.key, at, id)))).toEqual([
      404, 404, 404, 404, 404,
    ])
    expect(await read((await app.makeOrg()).key, base, export_id)).toBe(404)
  })

  it('one older than 24 hours is 404, and so is its file', async () => {
    const base = await makeSheet()
    const { record } = await finish(base)
    await setAge(record.export_id, 23.9)
    expect(await read(org.key, base, record.export_id)).toBe(200)
    await setAge(record.export_id, 24.1)
    expect(await read(org.key, base, record.export_id)).toBe(404)
    expect((await exportsOf(app, org).download(record.file_url)).status).toBe(404)
  })
})

async function setAge(id: string, hours: number): Promise<void> {
  await app.store.query({
    text: `update exports set started_at = now() - $2 * interval '1 hour' where export_id = $1`,
    values: [id, hours],
  })
}

describe('scopes (D12)', () => {
  const keyOf = (as: TestOrg, ...scopes: string[]) => as.keyFor('admin@scopes.example', 'admin', { scopes })

  it('starting needs workflows:data:read, reading workflows:read', async () => {
    const base = await makeSheet()
    const data = await keyOf(org, 'workflows:data:read')
    const view = await keyOf(org, 'workflows:read')
    const made = await app.call(data, 'POST', `${base}/export`)
    expect([made.status, (await app.call(view, 'POST', `${base}/export`)).body.error]).toEqual([
      202,
      'INSUFFICIENT_SCOPE',
    ])
    const path = `${base}/export/${made.body.data.export_id}`
    expect((await app.call(view, 'GET', path)).status).toBe(200)
    expect((await app.call(data, 'GET', path)).body.error).toBe('INSUFFICIENT_SCOPE')
  })

  it('a sheet of another member is 403, a missing one 404', async () => {
    const base = await makeSheet()
    const member = await org.keyFor('stranger@example.com', 'member')
    expect((await app.call(member, 'POST', `${base}/export`)).status).toBe(403)
    expect((await org.call('POST', `/workflows/${UNKNOWN}/sheets/${UNKNOWN}/export`)).status).toBe(404)
  })
})
