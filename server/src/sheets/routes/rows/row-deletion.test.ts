import { describe, expect, it } from 'vitest'
import { purgeChunk } from '#server/sheets/store/purges.ts'
import { makeRowSheet, rowsOf } from '#test/builders/rows.ts'
import { makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()
const org = await app.makeOrg()
const { makeSheet, addRows, list } = rowsOf(org)

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

  it('D43: what is no text is no id either, and the others are deleted', async () => {
    const base = await makeSheet()
    const [id] = await addRows(base, [{}])
    const body = `{"row_ids": ["${id}", 5, 12345678901234567890, null, {"row_id": "${id}"}]}`
    const answer = await app.api.inject({
      method: 'POST',
      url: `/api/v1${base}/rows/delete`,
      headers: { authorization: `Bearer ${org.key}`, 'content-type': 'application/json' },
      payload: body,
    })
    const rejected = ['5', '12345678901234567890', 'null', `{"row_id":"${id}"}`]
      .map((sent) => `{"row_id":${sent},"error":"not a valid row id"}`)
      .join(',')
    expect([answer.statusCode, answer.body]).toEqual([
      200,
      `{"status":200,"data":{"deleted_count":1,"deleted_row_ids":["${id}"],"rejected":[${rejected}]}}`,
    ])
  })

  it.each([[{}], [{ row_ids: [] }], [{ row_ids: Array.from({ length: 201 }, () => 'x') }], [{ row_ids: 5 }]])(
    '400: %j',
    async (body) => {
      expect((await org.call('POST', `${await makeSheet()}/rows/delete`, body)).status).toBe(400)
    },
  )

  it('delete-all returns the exact count, 0 when empty, and the sheet can be used like a new one', async () => {
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
    const [base, kept] = [await makeRowSheet(other), await makeRowSheet(other)]
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
