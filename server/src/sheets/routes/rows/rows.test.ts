import { describe, expect, it } from 'vitest'
import { rowsOf } from '#test/builders/rows.ts'
import { makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()
const org = await app.makeOrg()
const { makeSheet, addRows, list } = rowsOf(org)

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

  it('D38: partial success: accepted rows are written, rejected rows come back as sent with every error', async () => {
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
      { row: 'text', index: 1, errors: [malformed] },
      { row: { company: 1, Domain: 2 }, index: 2, errors: [unknown('company'), unknown('Domain')] },
      { row: null, index: 3, errors: [malformed] },
      { row: [], index: 4, errors: [malformed] },
      { row: 5, index: 6, errors: [malformed] },
    ])
    expect((await list(base)).rows.map((row: { inputs: { Company: string } }) => row.inputs.Company)).toEqual(
      ['A', 'B'],
    )
  })

  it('D38: a rejected row comes back to the last digit', async () => {
    const row = '{"other":12345678901234567890,"__proto__":"\\u0000","list":[1.10,1e400]}'
    const { payload } = await app.api.inject({
      method: 'POST',
      url: `/api/v1${await makeSheet()}/rows`,
      headers: { authorization: `Bearer ${org.key}`, 'content-type': 'application/json' },
      payload: `{"rows":[${row}]}`,
    })
    expect(payload).toContain(`"row":${row},"index":0`)
  })

  it('D58: all rows rejected is still 201, with a warning that lists the inputs', async () => {
    const base = await makeSheet()
    const { status, body } = await org.call('POST', `${base}/rows`, { rows: [1] })
    expect([status, body.data.row_count, body.data.row_ids]).toEqual([201, 0, []])
    expect(body.warnings).toEqual([
      {
        field: 'rows',
        code: 'all_rows_rejected',
        message: 'no row was added, each is in `rejected`; the inputs are: Company, domain, employees',
      },
    ])
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

  it('D94: run_after_add on a sheet without actions warns', async () => {
    const base = await makeSheet()
    const add = (run_after_add: string) => org.call('POST', `${base}/rows`, { rows: [{}], run_after_add })
    const { status, body } = await add('all')
    expect([status, body.warnings]).toEqual([
      201,
      [
        {
          field: 'run_after_add',
          code: 'no_actions',
          message: 'the sheet has no actions yet, so no row runs; add one first',
        },
      ],
    ])
    expect((await add('none')).body.warnings).toEqual([])
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
