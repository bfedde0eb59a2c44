import { describe, expect, it } from 'vitest'
import { getDefinition } from '#server/sheets/store/definitions.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()
const org = await app.makeOrg()
const { makeSheet, addRows, list } = rowsOf(org)

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
    ['page_no beyond every bound', { page_no: 2 ** 53 }, ['page_no']],
    ['page_no below every bound', { page_no: -(2 ** 53) }, ['page_no']],
    [
      'created_at values as text',
      { created_at: { operator: 'equals to', values: '2026-01-01' } },
      ['created_at.values'],
    ],
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
      ['status_filters[0]', 'status_filters[0].action_instance_id'],
    ],
    [
      'neither is nor is_not',
      { status_filters: [{ action_instance_id: 'a_1' }] },
      ['status_filters[0]', 'status_filters[0].action_instance_id'],
    ],
    [
      'an unknown status',
      { status_filters: [{ action_instance_id: 'a_1', is: ['done'] }] },
      ['status_filters[0].is[0]', 'status_filters[0].action_instance_id'],
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

  it('created_at: each operator, bare dates as UTC days (D40, D88)', async () => {
    const base = await makeSheet()
    const [id] = await addRows(base, [{}])
    const { rows } = await list(base)
    const at: string = rows[0].created_at
    const day = at.slice(0, 10)
    const shift = (ms: number) => new Date(Date.parse(at) + ms).toISOString()
    const dayBefore = shift(-86_400_000).slice(0, 10)
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
    expect(await count('greater than', day)).toBe(0)
    expect(await count('greater than', dayBefore)).toBe(1)
    expect(await count('greater than or equals to', day)).toBe(1)
    expect(await count('less than', day)).toBe(0)
    expect(await count('less than or equals to', dayBefore)).toBe(0)
    expect(await count('is between', dayBefore, dayBefore)).toBe(0)
    expect(await count('is between', dayBefore, day)).toBe(1)
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

  it('status_filters: is and is_not by the cell of an action; is_not matches rows without that cell (D40)', async () => {
    const base = await makeSheet()
    const ids = await addRows(base, [{}, {}, {}])
    const sheetId = base.slice(-36)
    const db = app.store.org(org.orgId)
    const sheet = { org_id: org.orgId, sheet_id: sheetId }
    const definition = await getDefinition(db, { ...sheet, revision: 2 })
    // Stores a revision with one action directly, as the chain endpoints write it.
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

    // No worker runs, so the row stays queued. A filter may combine statuses of results and of rows in flight.
    const queued = await org.call('POST', `${base}/run`, { row_ids: [ids[2]] })
    expect(queued.body.data).toEqual({ rows_queued: 1 })
    const any = async (wanted: object) => {
      const page = await list(base, { status_filters: [{ action: 'any', ...wanted }] })
      return page.rows.map((row: { row_id: string }) => ids.indexOf(row.row_id))
    }
    for (const select of [found, any]) {
      expect(await select({ is: ['queued'] })).toEqual([2])
      expect(await select({ is: ['failed', 'error', 'queued', 'running'] })).toEqual([0, 2])
      expect(await select({ is: ['complete', 'queued'] })).toEqual([1, 2])
      expect(await select({ is_not: ['failed', 'queued'] })).toEqual([1])
      expect(await select({ is_not: ['complete', 'queued'] })).toEqual([0])
    }
  })
})

it('pages are exact after any deletions (random, against a plain list)', async () => {
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
