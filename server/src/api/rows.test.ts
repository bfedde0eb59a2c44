import { beforeAll, describe, expect, it } from 'vitest'
import { getDefinition } from '#server/store/definitions.ts'
import { purgeChunk } from '#server/store/purges.ts'
import { makeApp, type TestOrg } from '#test/harness.ts'

const app = await makeApp()
let org: TestOrg
beforeAll(async () => {
  org = await app.makeOrg()
})

const COLUMNS = ['Company', 'domain', 'employees']

/** A workflow with three inputs; answers the base path of its main sheet. */
async function makeSheet(columns: string[] = COLUMNS, as: TestOrg = org): Promise<string> {
  const { body } = await as.call('POST', '/workflows', { name: 'Rows' })
  const base = `/workflows/${body.data.workflow_id}/sheets/${body.data.workflow_id}`
  const inputs = columns.map((name) => ({ name, type: 'string' }))
  expect((await as.call('POST', `${base}/inputs`, inputs)).status).toBe(200)
  return base
}

async function addRows(base: string, rows: unknown[] | string): Promise<string[]> {
  const body = typeof rows === 'string' ? rows : { rows }
  const answer = await org.call('POST', `${base}/rows`, body)
  expect(answer.status).toBe(201)
  return answer.body.data.row_ids
}

async function list(base: string, body: unknown = {}) {
  const answer = await org.call('POST', `${base}/rows/list`, body)
  expect([answer.status, answer.body.errors]).toEqual([200, undefined])
  return answer.body.data
}

describe('4.6 Add Rows', () => {
  it('201 with ids in request order; rows read back with missing fields null', async () => {
    const base = await makeSheet()
    const answer = await org.call('POST', `${base}/rows`, {
      rows: [{ Company: 'A' }, { domain: 'b.io' }, {}],
    })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      status: 201,
      warnings: [],
      data: { row_count: 3, row_ids: expect.any(Array), rejected: [], rows_queued_for_run: 0 },
    })
    const page = await list(base)
    expect(page).toMatchObject({ total_count: 3, page_no: 1, page_size: 20 })
    expect(page.rows.map((row: { row_id: string }) => row.row_id)).toEqual(answer.body.data.row_ids)
    expect(page.rows[1]).toEqual({
      row_id: answer.body.data.row_ids[1],
      row_status: 'pending',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      inputs: { Company: null, domain: 'b.io', employees: null },
      cells: {},
    })
    expect(page.rows[2].inputs).toEqual({ Company: null, domain: null, employees: null })
  })

  it('partial success: accepted rows are written, rejected rows come back with every error', async () => {
    const base = await makeSheet()
    const rows = [{ Company: 'A' }, 'text', { company: 1, Domain: 2 }, null, [], { Company: 'B' }, 5]
    const { status, body } = await org.call('POST', `${base}/rows`, { rows })
    expect(status).toBe(201)
    expect(body.data.row_count).toBe(2)
    const malformed = {
      field: '_row',
      code: 'malformed_row',
      message: expect.stringContaining('must be an object'),
    }
    const unknown = (field: string) => ({ field, code: 'unknown_field', message: expect.any(String) })
    expect(body.data.rejected).toEqual([
      { row: 1, errors: [malformed] },
      { row: 2, errors: [unknown('company'), unknown('Domain')] },
      { row: 3, errors: [malformed] },
      { row: 4, errors: [malformed] },
      { row: 6, errors: [malformed] },
    ])
    expect((await list(base)).rows.map((row: { inputs: { Company: string } }) => row.inputs.Company)).toEqual(
      ['A', 'B'],
    )
  })

  it('D58: all rows rejected is still 201', async () => {
    const base = await makeSheet()
    const { status, body } = await org.call('POST', `${base}/rows`, { rows: [1] })
    expect([status, body.data.row_count, body.data.row_ids]).toEqual([201, 0, []])
  })

  it('D28: numbers are kept as their source text, without damage', async () => {
    const base = await makeSheet()
    await addRows(
      base,
      '{"rows":[{"Company":12345678901234567890,"domain":1.10,"employees":1e400},{"Company":-0,"domain":0.1,"employees":[12345678901234567890, {"n": 1.50}]}]}',
    )
    const response = await org.call('POST', `${base}/rows/list`, {})
    expect(response.body.data.rows[0].inputs).toEqual({
      Company: '12345678901234567890',
      domain: '1.10',
      employees: '1e400',
    })
    const raw = await app.api.inject({
      method: 'POST',
      url: `/api/v1${base}/rows/list`,
      headers: { authorization: `Bearer ${org.key}` },
    })
    expect(raw.body).toContain('"employees":[12345678901234567890,{"n":1.50}]')
  })

  it('D28: booleans, arrays and objects are stored as given; the declared type is not enforced', async () => {
    const base = await makeSheet()
    const row = { Company: true, domain: ['a', { b: null }], employees: { deep: { er: [1, 2] } } }
    await addRows(base, [row])
    expect((await list(base)).rows[0].inputs).toEqual(row)
  })

  it('D28: NUL and lone surrogates are replaced, with warning value_normalized', async () => {
    const base = await makeSheet()
    const { body } = await org.call('POST', `${base}/rows`, {
      rows: [
        { Company: 'a\0b' },
        { Company: 'x\ud800y', domain: { 'k\0': ['\udfff'] } },
        { Company: 'fine' },
      ],
    })
    expect(body.data.row_count).toBe(3)
    expect(
      body.warnings.map((warning: { field: string; code: string }) => [warning.field, warning.code]),
    ).toEqual([
      ['rows[0].Company', 'value_normalized'],
      ['rows[1].Company', 'value_normalized'],
      ['rows[1].domain', 'value_normalized'],
      ['rows[1].domain', 'value_normalized'],
    ])
    const inputs = (await list(base)).rows.map((row: { inputs: unknown }) => row.inputs)
    expect(inputs[0].Company).toBe('a\uFFFDb')
    expect(inputs[1].domain).toEqual({ 'k\uFFFD': ['\uFFFD'] })
  })

  it('D38: a row that repeats another of the call is added and warned about', async () => {
    const base = await makeSheet()
    const { body } = await org.call('POST', `${base}/rows`, {
      rows: [{ Company: 'A' }, { Company: 'B' }, { Company: 'A' }],
    })
    expect(body.data.row_count).toBe(3)
    expect(body.warnings).toEqual([
      { field: 'rows[2]', code: 'duplicate_row', message: expect.stringContaining('rows[0]') },
    ])
  })

  it('names such as __proto__ and constructor are columns like any other', async () => {
    const base = await makeSheet(['__proto__', 'constructor', 'a.b c'])
    await addRows(base, '{"rows":[{"__proto__":"p","constructor":{"__proto__":{"x":1}},"a.b c":"d"}]}')
    const { rows } = await list(base)
    expect(JSON.stringify(rows[0].inputs)).toBe(
      '{"__proto__":"p","constructor":{"__proto__":{"x":1}},"a.b c":"d"}',
    )
  })

  it.each<[string, unknown, string]>([
    ['no rows', {}, 'rows'],
    ['rows: []', { rows: [] }, 'rows'],
    ['rows is an object', { rows: {} }, 'rows'],
    ['1,001 rows', { rows: Array.from({ length: 1001 }, () => ({})) }, 'rows'],
    ['run_after_add of another word', { rows: [{}], run_after_add: 'some' }, 'run_after_add'],
  ])('400: %s', async (_name, body, field) => {
    const base = await makeSheet()
    const answer = await org.call('POST', `${base}/rows`, body)
    expect([answer.status, answer.body.errors?.[0].field]).toEqual([400, field])
    expect((await list(base)).total_count).toBe(0)
  })

  it('1,000 rows are one call; concurrent calls keep their own order and lose nothing', async () => {
    const base = await makeSheet()
    const call = (tag: string) =>
      addRows(
        base,
        Array.from({ length: 1000 }, (_, n) => ({ Company: `${tag}${n}` })),
      )
    const ids = await Promise.all(['a', 'b', 'c', 'd'].map(call))
    const seen: string[] = []
    for (let page_no = 1; page_no <= 20; page_no++) {
      const page = await list(base, { page_no, page_size: 200 })
      expect(page.total_count).toBe(4000)
      seen.push(...page.rows.map((row: { row_id: string }) => row.row_id))
    }
    expect(new Set(seen).size).toBe(4000)
    for (const own of ids) {
      const places = own.map((id) => seen.indexOf(id))
      expect(places).toEqual(places.toSorted((a, b) => a - b))
    }
  })

  it('D12: asking to run needs workflows:run as well', async () => {
    const base = await makeSheet()
    const key = await org.keyFor(org.adminEmail, 'admin', { scopes: ['workflows:data:write'] })
    const add = (run_after_add: string) =>
      app.call(key, 'POST', `${base}/rows`, { rows: [{}], run_after_add })
    expect((await add('none')).status).toBe(201)
    const refused = await add('all')
    expect([refused.status, refused.body.error]).toEqual([403, 'INSUFFICIENT_SCOPE'])
  })

  it('a removed input does not come back with its values', async () => {
    const base = await makeSheet()
    await addRows(base, [{ Company: 'A', domain: 'a.io' }])
    await org.call('DELETE', `${base}/inputs/domain`)
    expect((await list(base)).rows[0].inputs).toEqual({ Company: 'A', employees: null })
    await org.call('POST', `${base}/inputs`, [{ name: 'domain', type: 'url' }])
    expect((await list(base)).rows[0].inputs).toEqual({ Company: 'A', employees: null, domain: null })
  })
})

describe('4.6 List Rows', () => {
  it('pages: default 20, partial last page in full, past the end []', async () => {
    const base = await makeSheet()
    await addRows(
      base,
      Array.from({ length: 45 }, (_, n) => ({ Company: String(n) })),
    )
    const sizes = []
    for (const page_no of [1, 2, 3, 4, 1_000_000]) {
      const page = await list(base, { page_no })
      sizes.push([page.rows.length, page.total_count, page.page_no, page.page_size])
    }
    expect(sizes).toEqual([
      [20, 45, 1, 20],
      [20, 45, 2, 20],
      [5, 45, 3, 20],
      [0, 45, 4, 20],
      [0, 45, 1_000_000, 20],
    ])
  })

  it('no body lists the first page', async () => {
    const base = await makeSheet()
    await addRows(base, [{}])
    const answer = await org.call('POST', `${base}/rows/list`)
    expect([answer.status, answer.body.data.total_count]).toEqual([200, 1])
  })

  it('row_ids: those found, in insertion order; unknown ones are left out', async () => {
    const base = await makeSheet()
    const ids = await addRows(
      base,
      Array.from({ length: 30 }, () => ({})),
    )
    const foreign = await addRows(await makeSheet(), [{}])
    const row_ids = [ids[29], ids[3], foreign[0], '00000000-0000-7000-8000-000000000000', ids[3]]
    const page = await list(base, { row_ids })
    expect(page.rows.map((row: { row_id: string }) => row.row_id)).toEqual([ids[3], ids[29]])
    expect(page.total_count).toBe(2)
    expect((await list(base, { row_ids: ids })).rows).toHaveLength(30)
    expect((await list(base, { row_ids: ids, page_size: 20, page_no: 2 })).rows).toHaveLength(10)
    expect((await list(base, { row_ids: [] })).rows).toEqual([])
  })

  const filter = (operator: string, ...values: string[]) => ({
    variable: '{{input.Company}}',
    operator,
    values,
  })
  it.each<[string, unknown, string[]]>([
    ['page_size over the maximum', { page_size: 201 }, ['page_size']],
    ['page_size 0', { page_size: 0 }, ['page_size']],
    ['page_no 0', { page_no: 0 }, ['page_no']],
    ['page_no as text', { page_no: '1' }, ['page_no']],
    ['page_no with a fraction', { page_no: 1.5 }, ['page_no']],
    ['201 row ids', { row_ids: Array.from({ length: 201 }, () => crypto.randomUUID()) }, ['row_ids']],
    ['a malformed row id (D43)', { row_ids: ['x'] }, ['row_ids[0]']],
    ['row_ids with filters', { row_ids: [], filters: [] }, ['filters']],
    [
      'row_ids with status_filters and created_at',
      { row_ids: [], status_filters: [], created_at: { operator: 'equals to', values: ['2026-01-01'] } },
      ['status_filters', 'created_at'],
    ],
    [
      'an unknown column (D58)',
      { filters: [{ variable: '{{input.nope}}', operator: 'is empty' }] },
      ['filters[0].variable'],
    ],
    [
      'an action output',
      { filters: [{ variable: '{{http_api_call_1.x}}', operator: 'is empty' }] },
      ['filters[0].variable'],
    ],
    ['no token', { filters: [{ variable: 'Company', operator: 'is empty' }] }, ['filters[0].variable']],
    ['an unknown operator', { filters: [filter('like', 'x')] }, ['filters[0].operator']],
    ['no value', { filters: [filter('is equal to')] }, ['filters[0].values']],
    ['two values', { filters: [filter('contains', 'a', 'b')] }, ['filters[0].values']],
    ['any of nothing', { filters: [filter('contains any of')] }, ['filters[0].values']],
    ['a number that is none', { filters: [filter('greater than', 'ten')] }, ['filters[0].values']],
    [
      'both is and is_not',
      { status_filters: [{ action_instance_id: 'a_1', is: ['failed'], is_not: ['failed'] }] },
      ['status_filters[0]'],
    ],
    ['neither is nor is_not', { status_filters: [{ action_instance_id: 'a_1' }] }, ['status_filters[0]']],
    [
      'an unknown status',
      { status_filters: [{ action_instance_id: 'a_1', is: ['done'] }] },
      ['status_filters[0].is[0]'],
    ],
    [
      'an action that is not there',
      { status_filters: [{ action_instance_id: 'a_1', is: ['failed'] }] },
      ['status_filters[0].action_instance_id'],
    ],
    [
      'an unknown created_at operator',
      { created_at: { operator: 'after', values: ['2026-01-01'] } },
      ['created_at.operator'],
    ],
    [
      'a time that is none',
      { created_at: { operator: 'equals to', values: ['yesterday'] } },
      ['created_at.values[0]'],
    ],
    [
      'between one',
      { created_at: { operator: 'is between', values: ['2026-01-01'] } },
      ['created_at.values'],
    ],
    [
      'a day that is not in the calendar',
      { created_at: { operator: 'equals to', values: ['2026-02-30'] } },
      ['created_at.values[0]'],
    ],
  ])('400: %s', async (_name, body, fields) => {
    const base = await makeSheet()
    const answer = await org.call('POST', `${base}/rows/list`, body)
    expect(answer.status).toBe(400)
    expect(answer.body.errors.map((error: { field: string }) => error.field)).toEqual(fields)
  })

  it.each<[string, string[], string]>([
    ['is equal to', ['Acme'], 'a'],
    ['not equal to', ['Acme'], 'bcdefgh'],
    ['is empty', [], 'gh'],
    ['not empty', [], 'abcdef'],
    ['contains', ['ACM'], 'ab'],
    ['does not contain', ['acm'], 'cdefgh'],
    ['contains', ['%'], 'd'],
    ['contains', ['ÜBER'], 'c'],
    ['contains any of', ['Acme', '50% off'], 'ad'],
    ['not contains any of', ['Acme', '50% off'], 'bcefgh'],
    ['greater than', ['9'], 'e'],
    ['less than', ['9.5'], 'f'],
    ['less than', ['1e3'], 'ef'],
  ])('filters: %s %j', async (operator, values, expected) => {
    const base = await makeSheet(['key', 'Company'])
    await addRows(base, [
      { key: 'a', Company: 'Acme' },
      { key: 'b', Company: 'acme gmbh' },
      { key: 'c', Company: 'über' },
      { key: 'd', Company: '50% off' },
      { key: 'e', Company: 10 },
      { key: 'f', Company: '-3.5' },
      { key: 'g', Company: '' },
      { key: 'h' },
    ])
    const page = await list(base, { filters: [filter(operator, ...values)] })
    expect(page.rows.map((row: { inputs: { key: string } }) => row.inputs.key).join('')).toBe(expected)
    expect(page.total_count).toBe(expected.length)
  })

  it('entries are AND-ed, pages apply to what matches, filters: [] means no filter', async () => {
    const base = await makeSheet()
    await addRows(
      base,
      Array.from({ length: 50 }, (_, n) => ({ Company: `c${n % 2}`, employees: n })),
    )
    const filters = [
      filter('is equal to', 'c1'),
      { variable: '{{input.employees}}', operator: 'less than', values: ['30'] },
    ]
    const page = await list(base, { filters, page_size: 10, page_no: 2 })
    expect([page.total_count, page.rows.length]).toEqual([15, 5])
    expect((await list(base, { filters: [], status_filters: [] })).total_count).toBe(50)
  })

  it('created_at: each operator, bare dates as UTC days', async () => {
    const base = await makeSheet()
    const [id] = await addRows(base, [{}])
    const { rows } = await list(base)
    const at: string = rows[0].created_at
    const day = at.slice(0, 10)
    const shift = (ms: number) => new Date(Date.parse(at) + ms).toISOString()
    const count = async (operator: string, ...values: string[]) =>
      (await list(base, { created_at: { operator, values } })).rows.filter(
        (row: { row_id: string }) => row.row_id === id,
      ).length
    expect(await count('equals to', at)).toBe(1)
    expect(await count('equals to', shift(1))).toBe(0)
    expect(await count('equals to', day)).toBe(1)
    expect(await count('equals to', shift(-86_400_000).slice(0, 10))).toBe(0)
    expect(await count('greater than', at)).toBe(0)
    expect(await count('greater than', shift(-1))).toBe(1)
    expect(await count('greater than or equals to', at)).toBe(1)
    expect(await count('less than', at)).toBe(0)
    expect(await count('less than', shift(1))).toBe(1)
    expect(await count('less than or equals to', at)).toBe(1)
    expect(await count('less than or equals to', day)).toBe(1)
    expect(await count('is between', at, at)).toBe(1)
    expect(await count('is between', day, day)).toBe(1)
    expect(await count('is between', shift(1), shift(2))).toBe(0)
    expect(await count('equals to', at.replace('Z', ''))).toBe(1)
    expect(await count('equals to', '0001-01-01')).toBe(0)
    expect(await count('less than', '9999-12-31T23:59:59+14:00')).toBe(1)
  })

  it('status_filters: is and is_not by the cell of an action; is_not matches rows without that cell', async () => {
    const base = await makeSheet()
    const ids = await addRows(base, [{}, {}, {}])
    const sheetId = base.slice(-36)
    const db = app.store.org(org.orgId)
    const sheet = { org_id: org.orgId, sheet_id: sheetId }
    const definition = await getDefinition(db, { ...sheet, revision: 2 })
    // The chain endpoints come later: a revision with one action is written as they will write it.
    await db
      .insertInto('chain_revisions')
      .values({
        ...sheet,
        revision: 3,
        created_by: 'test',
        definition: JSON.stringify({
          ...definition,
          actions: [{ id: 'filter_1', action_id: 'filter', display_name: 'F', inputs: {}, epoch: 0 }],
        }),
      })
      .execute()
    await db.updateTable('sheets').set({ revision: 3 }).where('sheet_id', '=', sheetId).execute()
    const cell = {
      ...sheet,
      action: 'filter_1',
      error: null,
      run_id: sheetId,
      revision: 3,
      attempts: 1,
      credits_millis: 0,
      cached: false,
      started_at: new Date(),
    }
    await db
      .insertInto('cells')
      .values([
        { ...cell, row_id: String(ids[0]), status: 'failed', error: 'no answer' },
        { ...cell, row_id: String(ids[1]), status: 'complete', outputs: '{"x":1}' },
      ])
      .execute()
    const found = async (wanted: object) => {
      const page = await list(base, { status_filters: [{ action_instance_id: 'filter_1', ...wanted }] })
      return page.rows.map((row: { row_id: string }) => ids.indexOf(row.row_id))
    }
    expect(await found({ is: ['failed'] })).toEqual([0])
    expect(await found({ is: ['failed', 'complete'] })).toEqual([0, 1])
    expect(await found({ is_not: ['failed'] })).toEqual([1, 2])
    expect(await found({ is_not: ['complete', 'failed'] })).toEqual([2])
    const { rows } = await list(base)
    expect(rows.map((row: { row_status: string }) => row.row_status)).toEqual([
      'has_failures',
      'complete',
      'pending',
    ])
    expect(rows[0].cells).toEqual({ filter_1: { status: 'failed', error: 'no answer' } })
    expect(rows[1].cells).toEqual({ filter_1: { status: 'complete', outputs: { x: 1 } } })
  })
})

describe('4.6 Delete Rows and Delete All Rows', () => {
  it('partial success: unknown and malformed ids are reported in rejected', async () => {
    const base = await makeSheet()
    const ids = await addRows(base, [{}, {}, {}])
    const foreign = await addRows(await makeSheet(), [{}])
    const unknown = '00000000-0000-7000-8000-000000000000'
    const row_ids = [ids[2], 'nonsense', unknown, foreign[0], ids[0], ids[0]]
    const { status, body } = await org.call('POST', `${base}/rows/delete`, { row_ids })
    expect([status, body.message]).toEqual([200, undefined])
    expect(body.data.deleted_count).toBe(2)
    expect(new Set(body.data.deleted_row_ids)).toEqual(new Set([ids[0], ids[2]]))
    expect(body.data.rejected).toEqual([
      { row_id: 'nonsense', error: 'not a valid row id' },
      { row_id: unknown, error: 'not found on this sheet' },
      { row_id: foreign[0], error: 'not found on this sheet' },
    ])
    const left = await list(base)
    expect([left.total_count, left.rows[0].row_id]).toEqual([1, ids[1]])
  })

  it.each([
    [{}],
    [{ row_ids: [] }],
    [{ row_ids: Array.from({ length: 201 }, () => 'x') }],
    [{ row_ids: [5] }],
  ])('400: %j', async (body) => {
    expect((await org.call('POST', `${await makeSheet()}/rows/delete`, body)).status).toBe(400)
  })

  it('delete-all answers the exact count, 0 when empty, and the sheet goes on as new', async () => {
    const base = await makeSheet()
    const ids = await addRows(
      base,
      Array.from({ length: 1000 }, (_, n) => ({ Company: String(n) })),
    )
    await org.call('POST', `${base}/rows/delete`, { row_ids: ids.slice(10, 40) })
    const { body } = await org.call('POST', `${base}/rows/delete-all`)
    expect(body).toEqual({ status: 200, data: { deleted_count: 970 } })
    expect((await org.call('POST', `${base}/rows/delete-all`)).body.data.deleted_count).toBe(0)
    expect(await list(base)).toMatchObject({ total_count: 0, rows: [] })
    expect((await list(base, { row_ids: ids.slice(0, 5) })).total_count).toBe(0)
    expect(
      (await list(base, { filters: [{ variable: '{{input.Company}}', operator: 'not empty' }] })).total_count,
    ).toBe(0)
    const again = await org.call('POST', `${base}/rows/delete`, { row_ids: [ids[0]] })
    expect(again.body.data.deleted_count).toBe(0)
    const next = await addRows(base, [{ Company: 'new' }, { Company: 'newer' }])
    expect((await list(base)).rows.map((row: { row_id: string }) => row.row_id)).toEqual(next)
    expect((await list(base)).total_count).toBe(2)
  })

  it('what is deleted is purged from the tables, and nothing else', async () => {
    const other = await app.makeOrg()
    const [base, kept] = [await makeSheet(COLUMNS, other), await makeSheet(COLUMNS, other)]
    for (const at of [base, kept])
      await other.call('POST', `${at}/rows`, { rows: Array.from({ length: 300 }, () => ({})) })
    await other.call('POST', `${base}/rows/delete-all`)
    await other.call('POST', `${base}/rows`, { rows: [{}] })
    while (await purgeChunk(app.store.system));
    const { rows } = await app.store
      .query<{ n: number }>({ text: `select count(*) as n from rows where org_id = '${other.orgId}'` })
      .then((found) => ({ rows: found }))
    expect(rows[0]?.n).toBe(301)
    await other.call('DELETE', `/workflows/${kept.slice(-36)}`)
    while (await purgeChunk(app.store.system));
    const left = await app.store.query<{ n: number }>({
      text: `select (select count(*) from rows where org_id = '${other.orgId}')
        + (select count(*) from workflows where org_id = '${other.orgId}') as n`,
    })
    expect(left[0]?.n).toBe(2)
  })
})

it('pages are exact after any deletions (random, against a plain list)', { timeout: 60_000 }, async () => {
  const base = await makeSheet(['n'])
  let model: string[] = []
  let random = 20_261_115
  const next = (below: number) => {
    random = (random * 1_103_515_245 + 12_345) % 2_147_483_648
    return random % below
  }
  for (let round = 0; round < 25; round++) {
    const choice = next(10)
    if (choice < 5)
      model.push(
        ...(await addRows(
          base,
          Array.from({ length: 1 + next(900) }, () => ({})),
        )),
      )
    else if (choice < 9 && model.length > 0) {
      const from = next(model.length)
      const gone = model.slice(from, from + 1 + next(200)).filter(() => next(3) > 0)
      if (gone.length === 0) continue
      await org.call('POST', `${base}/rows/delete`, { row_ids: gone })
      model = model.filter((id) => !gone.includes(id))
    } else if (next(4) === 0) {
      await org.call('POST', `${base}/rows/delete-all`)
      model = []
    }
    for (let probe = 0; probe < 4; probe++) {
      const page_size = 1 + next(200)
      const page_no = 1 + next(Math.ceil(model.length / page_size) + 1)
      const page = await list(base, { page_no, page_size })
      expect(page.total_count).toBe(model.length)
      const expected = model.slice((page_no - 1) * page_size, page_no * page_size)
      expect(page.rows.map((row: { row_id: string }) => row.row_id)).toEqual(expected)
    }
  }
})
