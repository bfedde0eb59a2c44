import { describe, expect, it } from 'vitest'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { gridSheetsOf } from '../../testing/grid-sheet.ts'

const app = await makeApp()
const makeSheet = gridSheetsOf(app)
const NOBODY = '01890000-0000-7000-8000-000000000001'

describe('ways to rows of a long sheet', () => {
  async function makeLongSheet() {
    const made = await makeSheet(Array.from({ length: 3000 }, (_, n) => `name ${n}`))
    const { org, sheet, ids } = made
    for (const action_id of ['split_full_name', 'normalize_domain']) {
      await org.call('POST', `${sheet}/actions/add`, { action_id })
    }
    const failed = (row: number, action: string) => ({
      org_id: org.orgId,
      sheet_id: sheet.slice(-36),
      row_id: ids[row] ?? '',
      action,
      status: 'failed' as const,
      error: 'a Needle in it',
      run_id: NOBODY,
      revision: 1,
      attempts: 1,
      credits_millis: 0,
      cached: false,
      started_at: new Date(),
    })
    const cells = [
      failed(5, 'normalize_domain_1'),
      failed(5, 'split_full_name_1'),
      failed(2900, 'normalize_domain_1'),
    ]
    await app.store.system.insertInto('cells').values(cells).execute()
    const ask = async (path: string, body: object): Promise<Json> =>
      (await made.session.call('POST', `${sheet}/rows/${path}`, body)).body.data
    return { ...made, ask }
  }

  it('the next failed cell is found wherever it is, by action within a row, behind the last again, and among those filtered', async () => {
    const { ids, ask, session, sheet } = await makeLongSheet()
    const next = async (body: object) => {
      const found = await ask('next-failed', body)
      return found === null ? null : [ids.indexOf(found.row_id), found.action]
    }
    const [five, last] = [ids[5], ids[2900]]
    expect(await next({})).toEqual([5, 'split_full_name_1'])
    expect(await next({ after: { row_id: five } })).toEqual([5, 'split_full_name_1'])
    expect(await next({ after: { row_id: five, action: 'split_full_name_1' } })).toEqual([
      5,
      'normalize_domain_1',
    ])
    expect(await next({ after: { row_id: five, action: 'normalize_domain_1' } })).toEqual([
      2900,
      'normalize_domain_1',
    ])
    expect(await next({ after: { row_id: last, action: 'normalize_domain_1' } })).toEqual([
      5,
      'split_full_name_1',
    ])
    const named = (name: string) => [{ variable: '{{input.name}}', operator: 'is equal to', values: [name] }]
    expect(await next({ filters: named('name 2900') })).toEqual([2900, 'normalize_domain_1'])
    expect(await next({ filters: named('name 7') })).toBeNull()
    await session.call('POST', `${sheet}/rows/delete`, { row_ids: [five] })
    expect(await next({})).toEqual([2900, 'normalize_domain_1'])
  })

  it('a row has a place among all rows and among filtered rows, also after deleted rows', async () => {
    const { ids, ask, session, sheet } = await makeLongSheet()
    const place = async (row: number, body: object = {}) =>
      (await ask('place', { row_id: ids[row], ...body })).place
    expect(await place(0)).toBe(0)
    expect(await place(2999)).toBe(2999)
    await session.call('POST', `${sheet}/rows/delete`, { row_ids: [ids[1], ids[1500], ids[2998]] })
    expect([await place(0), await place(1499), await place(1501), await place(2999)]).toEqual([
      0, 1498, 1499, 2996,
    ])
    expect(await place(1500)).toBeNull()
    const filters = [{ variable: '{{input.name}}', operator: 'contains', values: ['99'] }]
    expect(await place(199, { filters })).toBe(1)
    expect(await place(200, { filters })).toBeNull()
  })

  it('text is found in values and cells, from wherever it is looked on', async () => {
    const { ids, ask } = await makeLongSheet()
    const all = async (body: object) => {
      const found: string[] = []
      let [from, looked]: [number | undefined, number] = [undefined, 0]
      do {
        const answer = await ask('find', { ...body, from })
        found.push(...answer.row_ids)
        expect(answer.looked_at).toBeGreaterThan(looked)
        looked = answer.looked_at
        from = answer.next ?? undefined
      } while (from !== undefined)
      expect(looked).toBe(3000)
      return found.map((id) => ids.indexOf(id))
    }
    expect(await all({ find: 'nEEdle' })).toEqual([5, 2900])
    expect(await all({ find: 'NAME 299' })).toEqual([299, ...Array.from({ length: 10 }, (_, n) => 2990 + n)])
    const filters = [{ variable: '{{input.name}}', operator: 'contains', values: ['5'] }]
    expect(await all({ find: 'needle', filters })).toEqual([5])
  })
})

it('finds what JSON writes otherwise, as it is', async () => {
  const odd = ['say "hi"', 'back\\slash', 'two\nlines', 'tab\there', 'Grüße', 'plain']
  const { names } = await makeSheet(odd)
  for (const text of ['"HI"', 'k\\s', 'o\nl', 'b\th', 'grÜ', 'plain']) {
    expect(await names({ find: text }), text).toHaveLength(1)
  }
  expect(await names({ find: '\\n' })).toEqual([])
  expect(await names({ find: '1' })).toEqual([])
})

describe('find', () => {
  it('keeps the rows in which a value holds the text, whatever its case, beside filters', async () => {
    const { org, sheet, list, names } = await makeSheet(['Ann Lee', 'leeds', '50% off', 'bob'])
    expect(await names({ find: 'LEE' })).toEqual(['Ann Lee', 'leeds'])
    expect(await names({ find: '%' })).toEqual(['50% off'])
    expect(await list({ find: 'e', page_no: 2, page_size: 1 })).toMatchObject({
      total_count: (await names({ find: 'e' })).length,
    })
    const filters = [{ variable: '{{input.name}}', operator: 'contains', values: ['ann'] }]
    expect(await names({ find: 'lee', filters })).toEqual(['Ann Lee'])
    expect((await org.call('POST', `${sheet}/rows/list`, { find: '' })).status).toBe(400)
    expect((await org.call('POST', `${sheet}/estimate`, { find: 'lee' })).status).not.toBe(500)
  })
})
