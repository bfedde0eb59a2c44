import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { makeSheet, type Call } from '#test/builders/sheets.ts'
import { targets } from '#test/plumbing/databases.ts'
import { makeApp, type TestApp, type TestOrg } from '#test/plumbing/harness.ts'

const NAME = 'split_full_name_1'

describe.each(targets())('G3: sort, on $name', (target) => {
  let app: TestApp
  let org: TestOrg
  let call: Call

  beforeAll(async () => {
    app = await makeApp({ target })
    org = await app.makeOrg()
    call = async (method, path, body) => (await org.call(method, path, body)).body
  })

  /** Creates a sheet of rows with the columns a and b, and returns its path and the ids of its rows. */
  async function fill(values: readonly (readonly unknown[])[]): Promise<{ base: string; ids: string[] }> {
    const base = await makeSheet(
      call,
      ['a', 'b'],
      [{ action_id: 'split_full_name', inputs: { value: '{{input.a}}' } }],
    )
    const { data } = await call('POST', `${base}/rows`, { rows: values.map(([a, b]) => ({ a, b })) })
    return { base, ids: data.row_ids }
  }

  const list = (base: string, body: object) =>
    org.call('POST', `${base}/rows/list`, { page_size: 200, ...body })

  /** Returns the places that the rows of a page had when they were added. */
  async function placesOf({ base, ids }: { base: string; ids: string[] }, body: object): Promise<number[]> {
    const answer = await list(base, body)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    return answer.body.data.rows.map(({ row_id }: { row_id: string }) => ids.indexOf(row_id))
  }

  const BY_A = [{ variable: '{{input.a}}' }]
  const BY_A_DOWN = [{ variable: '{{input.a}}', direction: 'desc' }]

  it('numbers as numbers, then dates, then text without case, empty last; ties by insertion', async () => {
    const sheet = await fill(
      [
        'b',
        '10',
        '',
        'A',
        '9',
        null,
        '2024-05-01',
        'a',
        '-1.5',
        '2024-04-30T10:00:00Z',
        [],
        'é',
        '1e1',
        'E',
        'Z',
      ].map((a) => [a]),
    )
    expect(await placesOf(sheet, { sort: BY_A })).toEqual([8, 4, 1, 12, 9, 6, 3, 7, 0, 13, 11, 14, 2, 5, 10])
    expect(await placesOf(sheet, { sort: BY_A_DOWN })).toEqual([
      14, 11, 13, 0, 3, 7, 6, 9, 1, 12, 4, 8, 2, 5, 10,
    ])
  })

  it('the order of texts is that of the Unicode root collation', async () => {
    const texts = [
      'a b',
      'ab',
      'a-b',
      'Äb',
      'ac',
      '_x',
      '"q"',
      'ß',
      'ss',
      'z',
      'Ж',
      '中',
      '1a',
      '10a',
      'AB',
      '  x',
    ]
    const sheet = await fill(texts.map((a) => [a]))
    const { compare } = new Intl.Collator('und', { sensitivity: 'accent' })
    const expected = texts.map((_, n) => n).sort((x, y) => compare(texts[x] ?? '', texts[y] ?? '') || x - y)
    expect(await placesOf(sheet, { sort: BY_A })).toEqual(expected)
  })

  it('by several columns, the first decides', async () => {
    const sheet = await fill([
      ['x', '2'],
      ['y', '1'],
      ['X', '10'],
      ['y', null],
      ['x', 'n'],
      ['x', '2024-01-01'],
    ])
    const sort = [...BY_A_DOWN, { variable: '{{input.b}}', direction: 'asc' }]
    expect(await placesOf(sheet, { sort })).toEqual([1, 3, 0, 2, 5, 4])
    const created = [{ variable: '{{input.b}}' }, { field: 'created_at', direction: 'desc' }]
    expect((await placesOf(sheet, { sort: created })).slice(0, 3)).toEqual([1, 0, 2])
  })

  it('by outputs and by the status of cells, in the order of part 3', async () => {
    const sheet = await fill([['p'], ['q'], ['r'], ['s']])
    const cells = [
      ['failed', null],
      ['complete', { first: 'b' }],
      ['complete', { first: 'A' }],
    ] as const
    for (const [n, [status, outputs]] of cells.entries())
      await sql`insert into cells (org_id, sheet_id, row_id, action, status, outputs, run_id, revision, attempts, credits_millis,
          cached, started_at)
        values (${org.orgId}, ${sheet.base.split('/')[2]}, ${sheet.ids[n]}, ${NAME}, ${status}, ${JSON.stringify(outputs)}::jsonb,
          ${newId()}, 1, 1, 0, false, now())`.execute(app.store.org(org.orgId))
    expect(await placesOf(sheet, { sort: [{ variable: `{{${NAME}.first}}` }] })).toEqual([2, 1, 0, 3])
    expect(await placesOf(sheet, { sort: [{ action_instance_id: NAME }] })).toEqual([1, 2, 0, 3])
    expect(await placesOf(sheet, { sort: [{ action_instance_id: NAME, direction: 'desc' }] })).toEqual([
      0, 1, 2, 3,
    ])
  })

  it('with filters, only the rows that match are in the order; `[]` sorts nothing', async () => {
    const sheet = await fill([['3'], ['1'], ['2'], ['x']])
    const filters = [{ variable: '{{input.a}}', operator: 'less than', values: ['3'] }]
    const { body } = await list(sheet.base, { sort: BY_A, filters })
    expect(body.data.total_count).toBe(2)
    const unsorted = await list(sheet.base, { sort: [] })
    expect(unsorted.body.data).not.toHaveProperty('order_id')
    expect(
      (await list(sheet.base, { sort: BY_A, filters: [{ ...filters[0], values: ['0'] }] })).body.data,
    ).toMatchObject({
      rows: [],
      total_count: 0,
    })
  })

  it('an order keeps the places of rows: they are as they are now, deleted ones are missing, new ones absent', async () => {
    const { base, ids } = await fill(Array.from({ length: 1000 }, (_, n) => [String(999 - n)]))
    const first = await list(base, { sort: BY_A, page_size: 2 })
    const { order_id, order_expires_at } = first.body.data
    expect(Date.parse(order_expires_at) - Date.now()).toBeGreaterThan(9 * 60_000)
    await call('POST', `${base}/rows/delete`, { row_ids: [ids[997]] })
    await call('POST', `${base}/rows`, { rows: [{ a: '-5' }] })
    await sql`update rows set data = '{"1":"changed"}' where org_id = ${org.orgId} and row_id = ${ids[996]}`.execute(
      app.store.org(org.orgId),
    )
    const second = await org.call('POST', `${base}/rows/list`, { order_id, page_no: 2, page_size: 2 })
    expect(second.body.data).toMatchObject({ total_count: 1000, page_no: 2, page_size: 2, order_id })
    expect(second.body.data.rows).toMatchObject([{ row_id: ids[996], inputs: { a: 'changed' } }])
    const last = await org.call('POST', `${base}/rows/list`, { order_id, page_no: 1000, page_size: 1 })
    expect(last.body.data.rows).toMatchObject([{ row_id: ids[0] }])
    const beyond = await org.call('POST', `${base}/rows/list`, {
      order_id,
      page_no: 1_000_000_000,
      page_size: 200,
    })
    expect(beyond.body.data.rows).toEqual([])
    await call('POST', `${base}/rows/delete-all`, {})
    expect((await org.call('POST', `${base}/rows/list`, { order_id })).body.data.rows).toEqual([])
  })

  it('an order that is unknown, expired or of another sheet is 410 ORDER_EXPIRED', async () => {
    const { base } = await fill([['1']])
    const other = await fill([['1']])
    const { order_id } = (await list(base, { sort: BY_A })).body.data
    const read = async (path: string, id: string) => {
      const { status, body } = await org.call('POST', `${path}/rows/list`, { order_id: id })
      return [status, body.error]
    }
    expect(await read(base, order_id)).toEqual([200, undefined])
    expect(await read(other.base, order_id)).toEqual([410, 'ORDER_EXPIRED'])
    expect(await read(base, newId())).toEqual([410, 'ORDER_EXPIRED'])
    await sql`update row_orders set expires_at = now() where order_id = ${order_id}`.execute(
      app.store.org(org.orgId),
    )
    expect(await read(base, order_id)).toEqual([410, 'ORDER_EXPIRED'])
  })

  it('names every wrong field at once', async () => {
    const { base } = await fill([['1']])
    const fieldsOf = async (body: object) => {
      const answer = await org.call('POST', `${base}/rows/list`, body)
      expect(answer.status).toBe(400)
      return answer.body.errors.map(({ field }: { field: string }) => field)
    }
    expect(await fieldsOf({ sort: [{ variable: '{{input.z}}' }, { action_instance_id: 'x_1' }] })).toEqual([
      'sort[0].variable',
      'sort[1].action_instance_id',
    ])
    expect(await fieldsOf({ sort: [...BY_A, ...BY_A_DOWN] })).toEqual(['sort[1]'])
    expect(await fieldsOf({ sort: [{}, { variable: '{{input.a}}', field: 'created_at' }] })).toEqual([
      'sort[0]',
      'sort[1]',
    ])
    expect(await fieldsOf({ order_id: newId(), sort: BY_A, find: 'x' })).toEqual(['find', 'sort'])
    expect(await fieldsOf({ row_ids: [newId()], sort: BY_A })).toEqual(['sort'])
    expect(
      await fieldsOf({
        sort: [...BY_A, { variable: '{{input.b}}' }, { field: 'created_at' }, { action_instance_id: NAME }],
      }),
    ).toEqual(['sort'])
  })
})
