import { describe, expect, it } from 'vitest'
import { forgetDeletedRows } from '#server/store/sheets/row-edits.ts'
import { type Json, makeApp } from '#test/harness.ts'
import { signIn, type TestSession } from '../testing/session.ts'

const app = await makeApp()
const NOBODY = '01890000-0000-7000-8000-000000000001'

async function makeSheet(values: string[] = ['ann', 'bob', 'cid']) {
  const org = await app.makeOrg()
  const session = await signIn(app, org.orgId, org.adminEmail)
  const id: string = (await org.call('POST', '/workflows', { name: 'Leads' })).body.data.workflow_id
  const sheet = `/workflows/${id}/sheets/${id}`
  await org.call('POST', `${sheet}/inputs`, [
    { name: 'name', type: 'string' },
    { name: 'city', type: 'string' },
  ])
  const rows = values.map((name) => ({ name, city: 'Ulm' }))
  const ids: string[] = (await org.call('POST', `${sheet}/rows`, { rows })).body.data.row_ids
  const list = async (body: object = {}): Promise<Json> =>
    (await org.call('POST', `${sheet}/rows/list`, body)).body.data
  const names = async (body: object = {}): Promise<string[]> =>
    (await list(body)).rows.map((row: Json) => row.inputs.name)
  return { org, session, sheet, ids, list, names }
}

const edit = (session: TestSession, sheet: string, rows: object[]) =>
  session.call('PATCH', `${sheet}/rows`, { rows })

describe('PATCH /internal/.../rows', () => {
  it('puts values beside those that the row has, and names rows that took none', async () => {
    const { session, sheet, ids, list } = await makeSheet()
    const answer = await edit(session, sheet, [
      { row_id: ids[0], inputs: { name: 'Anna' } },
      { row_id: ids[1], inputs: { shoe: '43' } },
      { row_id: NOBODY, inputs: { name: 'x' } },
    ])
    expect(answer.status).toBe(200)
    expect(answer.body.data.edited_row_ids).toEqual([ids[0]])
    expect(answer.body.data.rejected.map((one: Json) => one.index)).toEqual([1, 2])
    expect((await list()).rows[0].inputs).toEqual({ name: 'Anna', city: 'Ulm' })
    expect((await list()).rows[1].inputs).toEqual({ name: 'bob', city: 'Ulm' })
  })

  it('is for sessions that may write rows of this sheet', async () => {
    const { org, sheet, ids, names } = await makeSheet()
    const rows = [{ row_id: ids[0], inputs: { name: 'x' } }]
    const user = await signIn(app, org.orgId, 'user@example.com', 'user')
    const stranger = await signIn(app, (await app.makeOrg()).orgId, 'other@example.com')
    expect((await edit(user, sheet, rows)).status).toBe(403)
    expect((await edit(stranger, sheet, rows)).status).toBe(404)
    expect(await names()).toEqual(['ann', 'bob', 'cid'])
  })
})

describe('deleted rows', () => {
  it('come back to where they stood with values and cells, until they are forgotten', async () => {
    const { org, session, sheet, ids, list, names } = await makeSheet(['a', 'b', 'c', 'd'])
    await org.call('POST', `${sheet}/actions/add`, { action_id: 'split_full_name' })
    await app.store.system
      .insertInto('cells')
      .values({
        org_id: org.orgId,
        sheet_id: sheet.slice(-36),
        row_id: ids[1] ?? '',
        action: 'split_full_name_1',
        status: 'complete',
        outputs: JSON.stringify({ first: 'B "quoted", {odd}' }),
        run_id: NOBODY,
        revision: 1,
        attempts: 1,
        credits_millis: 0,
        cached: false,
        started_at: new Date(),
      })
      .execute()
    const before = (await list()).rows
    const chosen = { row_ids: [ids[1], ids[2]] }
    expect((await session.call('POST', `${sheet}/rows/delete`, chosen)).body.data.deleted_count).toBe(2)
    expect(await names()).toEqual(['a', 'd'])
    const back = await session.call('POST', `${sheet}/rows/restore`, chosen)
    expect(back.body.data.restored_count).toBe(2)
    expect((await list()).rows).toEqual(before)
    expect(await list({ page_no: 2, page_size: 2 })).toMatchObject({ total_count: 4 })

    await session.call('POST', `${sheet}/rows/delete`, chosen)
    await app.store.system
      .updateTable('deleted_rows')
      .set({ deleted_at: new Date(Date.now() - 60_000) })
      .where('org_id', '=', org.orgId)
      .execute()
    await forgetDeletedRows(app.store.system)
    expect((await session.call('POST', `${sheet}/rows/restore`, chosen)).status).toBe(410)
    expect(await names()).toEqual(['a', 'd'])
  })
})

describe('find', () => {
  it('keeps the rows in which a value holds the text, whatever its case, beside filters', async () => {
    const { org, sheet, names } = await makeSheet(['Ann Lee', 'leeds', '50% off', 'bob'])
    expect(await names({ find: 'LEE' })).toEqual(['Ann Lee', 'leeds'])
    expect(await names({ find: '%' })).toEqual(['50% off'])
    const filters = [{ variable: '{{input.name}}', operator: 'contains', values: ['ann'] }]
    expect(await names({ find: 'lee', filters })).toEqual(['Ann Lee'])
    expect((await org.call('POST', `${sheet}/rows/list`, { find: '' })).status).toBe(400)
    expect((await org.call('POST', `${sheet}/estimate`, { find: 'lee' })).status).not.toBe(500)
  })
})
