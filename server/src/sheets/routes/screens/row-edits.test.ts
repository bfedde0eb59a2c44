import { describe, expect, it } from 'vitest'
import { forgetDeletedRows } from '#server/sheets/store/row-edits.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { signIn, type TestSession } from '../../../api/testing/session.ts'
import { gridSheetsOf } from '../../testing/grid-sheet.ts'

const app = await makeApp()
const NOBODY = '01890000-0000-7000-8000-000000000001'

const makeSheet = gridSheetsOf(app)

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

describe('edits of inputs', () => {
  const value = async (list: () => Promise<Json>, row: number) => (await list()).rows[row].inputs

  it('are kept on the server, in several parts, and can be undone and redone from any browser', async () => {
    const { org, session, sheet, ids, list } = await makeSheet()
    const first = await edit(session, sheet, [{ row_id: ids[0], inputs: { name: 'Anna', city: '' } }])
    const { edit_id } = first.body.data
    const rows = [{ row_id: ids[1], inputs: { name: 'Bert' } }]
    expect((await session.call('PATCH', `${sheet}/rows`, { rows, edit_id })).body.data.edit_id).toBe(edit_id)

    const elsewhere = await signIn(app, org.orgId, org.adminEmail)
    expect((await elsewhere.call('GET', `${sheet}/edits`)).body.data).toMatchObject([
      { edit_id, undone: false },
    ])
    const undone = await elsewhere.call('POST', `${sheet}/edits/${edit_id}/undo`)
    expect(undone.body.data).toEqual({ changed_row_ids: [ids[0], ids[1]], values_left: 0 })
    expect(await value(list, 0)).toEqual({ name: 'ann', city: 'Ulm' })
    expect(await value(list, 1)).toEqual({ name: 'bob', city: 'Ulm' })
    expect(
      (await elsewhere.call('POST', `${sheet}/edits/${edit_id}/undo`)).body.data.changed_row_ids,
    ).toEqual([])
    await session.call('POST', `${sheet}/edits/${edit_id}/redo`)
    expect(await value(list, 0)).toEqual({ name: 'Anna', city: '' })
    expect(await value(list, 1)).toEqual({ name: 'Bert', city: 'Ulm' })
  })

  it('keep what a colleague wrote since, and are visible to their author only', async () => {
    const { org, session, sheet, ids, list } = await makeSheet()
    const both = [{ row_id: ids[0], inputs: { name: 'Anna', city: 'Bonn' } }]
    const { edit_id } = (await edit(session, sheet, both)).body.data
    const colleague = await signIn(app, org.orgId, 'colleague@example.com', 'admin')
    await edit(colleague, sheet, [{ row_id: ids[0], inputs: { city: 'Kiel' } }])
    expect((await colleague.call('POST', `${sheet}/edits/${edit_id}/undo`)).status).toBe(404)
    const undone = await session.call('POST', `${sheet}/edits/${edit_id}/undo`)
    expect(undone.body.data).toEqual({ changed_row_ids: [ids[0]], values_left: 1 })
    expect(await value(list, 0)).toEqual({ name: 'ann', city: 'Kiel' })
  })

  it('cannot be redone after another change, and deleted rows are left out', async () => {
    const { session, sheet, ids } = await makeSheet()
    const { edit_id } = (await edit(session, sheet, [{ row_id: ids[0], inputs: { name: 'x' } }])).body.data
    await session.call('POST', `${sheet}/edits/${edit_id}/undo`)
    const later = (await edit(session, sheet, [{ row_id: ids[1], inputs: { name: 'y' } }])).body.data.edit_id
    expect((await session.call('POST', `${sheet}/edits/${edit_id}/redo`)).status).toBe(404)
    await session.call('POST', `${sheet}/rows/delete`, { row_ids: [ids[1]] })
    const undone = await session.call('POST', `${sheet}/edits/${later}/undo`)
    expect(undone.body.data).toEqual({ changed_row_ids: [], values_left: 1 })
  })
})

describe('inputs and actions', () => {
  it('are restored with their values, unless somebody changed them since', async () => {
    const { org, session, sheet, list } = await makeSheet()
    const inputs = async () =>
      (await org.call('GET', `${sheet}/inputs`)).body.data.map((input: Json) => input.name)
    const revision = async (): Promise<number> =>
      (await session.call('GET', `${sheet}/definition`)).body.data.revision
    const before = await revision()
    await org.call('DELETE', `${sheet}/inputs/city`)
    const deleted = await revision()
    const restore = (from: number, to: number) =>
      session.call('POST', `${sheet}/definition/restore`, { from, to })
    expect((await restore(deleted, before)).body.data.revision).toBe(deleted + 1)
    expect(await inputs()).toEqual(['name', 'city'])
    expect((await list()).rows[0].inputs).toEqual({ name: 'ann', city: 'Ulm' })

    expect((await restore(before, deleted)).status).toBe(200)
    await org.call('POST', `${sheet}/inputs`, [{ name: 'age', type: 'number' }])
    expect((await restore(deleted, before)).status).toBe(409)
    expect((await restore(deleted, 999)).status).toBe(410)
    expect((await restore(2 ** 31, before)).status).toBe(400)
    expect((await restore(deleted, Number.MAX_SAFE_INTEGER)).status).toBe(400)
    expect(await inputs()).toEqual(['name', 'age'])
  })

  it('D26: results of a configuration that was undone are not found under the next one', async () => {
    const { org, session, sheet } = await makeSheet()
    const call = (method: string, path: string, body?: object) => org.call(method, `${sheet}${path}`, body)
    const epochs = async (): Promise<number[]> => {
      const { definition } = await app.store.system
        .selectFrom('chain_revisions')
        .select('definition')
        .where('sheet_id', '=', sheet.slice(-36))
        .orderBy('revision', 'desc')
        .executeTakeFirstOrThrow()
      return definition.actions.map(({ epoch }) => epoch)
    }
    await call('POST', '/actions/add', { action_id: 'normalize_domain' })
    await call('POST', '/actions/add', { action_id: 'split_full_name' })
    await call('PATCH', '/actions/normalize_domain_1', { inputs: { value: '{{input.name}}' } })
    expect(await epochs()).toEqual([1, 1])
    const { revision } = (await session.call('GET', `${sheet}/definition`)).body.data
    const undo = { from: revision, to: revision - 1 }
    expect((await session.call('POST', `${sheet}/definition/restore`, undo)).status).toBe(200)
    expect(await epochs()).toEqual([2, 2])
    await call('PATCH', '/actions/normalize_domain_1/name', { name: 'Domain' })
    const rename = { from: revision + 2, to: revision + 1 }
    expect((await session.call('POST', `${sheet}/definition/restore`, rename)).status).toBe(200)
    expect(await epochs()).toEqual([2, 2])
  })
})

it('changes of inputs and actions can be undone and redone after a reload, up to a change of a colleague', async () => {
  const { org, session, sheet } = await makeSheet()
  const stepsOf = async (of: TestSession): Promise<Json> =>
    (await of.call('GET', `${sheet}/definition/steps`)).body.data
  const turn = async (step: Json) => {
    const { from, to } = step
    expect((await session.call('POST', `${sheet}/definition/restore`, { from, to })).status).toBe(200)
  }
  const add = (name: string) => session.call('POST', `/api/v1${sheet}/inputs`, [{ name, type: 'string' }])
  const inputs = async (): Promise<string[]> =>
    (await org.call('GET', `${sheet}/inputs`)).body.data.map((input: Json) => input.name)
  await add('one')
  await add('two')
  await turn((await stepsOf(session)).past[0])
  await turn((await stepsOf(session)).past[0])
  expect(await inputs()).toEqual(['name', 'city'])
  expect((await stepsOf(session)).future).toHaveLength(2)
  await turn((await stepsOf(session)).future[0])
  expect(await inputs()).toEqual(['name', 'city', 'one'])
  await turn((await stepsOf(session)).future[0])
  expect(await inputs()).toEqual(['name', 'city', 'one', 'two'])
  await turn((await stepsOf(session)).past[0])
  expect(await inputs()).toEqual(['name', 'city', 'one'])

  const colleague = await signIn(app, org.orgId, 'colleague@example.com', 'admin')
  await colleague.call('POST', `/api/v1${sheet}/inputs`, [{ name: 'theirs', type: 'string' }])
  expect(await stepsOf(session)).toEqual({ past: [], future: [] })
  expect((await stepsOf(colleague)).past).toHaveLength(1)
})

describe('what a grid shows', () => {
  it('rows by their place, and how many have a result of each action', async () => {
    const { org, session, sheet, ids, names } = await makeSheet(['a', 'b', 'c', 'd'])
    const window = async (body: object): Promise<Json> =>
      (await session.call('POST', `${sheet}/rows/window`, body)).body.data
    const shown = await window({ offset: 1, limit: 2 })
    expect(shown.rows.map((row: Json) => row.inputs.name)).toEqual(['b', 'c'])
    expect(shown.total_count).toBe(4)
    const filters = [{ variable: '{{input.name}}', operator: 'not equal to', values: ['b'] }]
    const filtered = await window({ offset: 1, limit: 5, filters })
    expect(filtered.rows.map((row: Json) => row.inputs.name)).toEqual(['c', 'd'])
    expect(filtered.total_count).toBe(3)
    expect((await session.call('POST', `${sheet}/rows/window`, { offset: 0, limit: 201 })).status).toBe(400)

    await org.call('POST', `${sheet}/actions/add`, { action_id: 'split_full_name' })
    const cell = {
      org_id: org.orgId,
      sheet_id: sheet.slice(-36),
      action: 'split_full_name_1',
      run_id: NOBODY,
    }
    const rest = { status: 'complete' as const, revision: 1, attempts: 1, credits_millis: 0, cached: false }
    await app.store.system
      .insertInto('cells')
      .values(ids.slice(0, 3).map((row_id) => ({ ...cell, ...rest, row_id, started_at: new Date() })))
      .execute()
    await session.call('POST', `${sheet}/rows/delete`, { row_ids: [ids[0]] })
    const totals = await session.call('GET', `${sheet}/totals`)
    expect(totals.body.data).toMatchObject({ rows: 3, settled: { split_full_name_1: 2 } })
    expect(await names()).toEqual(['b', 'c', 'd'])
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
    const late = await session.call('POST', `${sheet}/rows/restore`, chosen)
    expect([late.status, late.body.message]).toEqual([
      410,
      expect.stringContaining('2 rows: no copy is kept; a copy lasts 10 seconds'),
    ])
    expect(await names()).toEqual(['a', 'd'])
  })

  it('that do not come back: the answer says why', async () => {
    const { org, session, sheet, ids } = await makeSheet()
    const restore = async (...row_ids: unknown[]) =>
      (await session.call('POST', `${sheet}/rows/restore`, { row_ids })).body.message
    expect(await restore(ids[0], ids[1])).toBe('None of these rows can be restored. 2 rows: not deleted')
    await session.call('POST', `${sheet}/rows/delete`, { row_ids: [ids[0]] })
    await org.call('POST', `${sheet}/rows/delete-all`)
    expect(await restore(ids[0])).toBe(
      'None of these rows can be restored. 1 row: the sheet was emptied after the deletion',
    )
    expect(await restore(ids[0], ids[1])).toMatch(/after the deletion\. 1 row: no copy is kept/)
  })
})
