import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { setSchedule } from '#server/runs/schedules.ts'
import { makeSheet, type Call } from '#test/builders/sheets.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()
const org = await app.makeOrg()
const call: Call = async (method, path, body) => (await org.call(method, path, body)).body
const NAME = 'split_full_name_1'
const ACTION = { action_id: 'split_full_name', inputs: { value: '{{input.name}}' } }
const LATE = [{ variable: '{{input.n}}', operator: 'greater than', values: ['2'] }]
const DOWN = [{ variable: '{{input.n}}', direction: 'desc' }]

async function fill(): Promise<{ base: string; ids: string[] }> {
  const base = await makeSheet(call, ['name', 'n'], [ACTION])
  const rows = [1, 2, 3, 4].map((n) => ({ name: `P${n}`, n: String(n) }))
  return { base, ids: (await call('POST', `${base}/rows`, { rows })).data.row_ids }
}
const namesOf = (answer: { body: Json }) =>
  answer.body.data.rows.map((row: { inputs: { name: string } }) => row.inputs.name)
const list = (base: string, body: object) => org.call('POST', `${base}/rows/list`, body)
const add = async (base: string, body: object) => {
  const answer = await org.call('POST', `${base}/views`, body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

describe('G4: views', () => {
  it('each sheet has a shared default view of all rows', async () => {
    const { base } = await fill()
    const { status, body } = await org.call('GET', `${base}/views`)
    expect([status, body.data]).toEqual([
      200,
      [
        {
          view_id: expect.any(String),
          name: 'All rows',
          visibility: 'shared',
          is_default: true,
          owner: null,
          filters: [],
          status_filters: [],
          created_at: null,
          sort: [],
          groups: [],
          columns: [],
          row_height: 32,
          made_at: expect.any(String),
          updated_at: expect.any(String),
        },
      ],
    ])
  })

  it('is created, read, changed field by field and deleted', async () => {
    const { base } = await fill()
    const { data } = await add(base, { name: 'Late', filters: LATE, sort: DOWN, visibility: 'only_me' })
    expect(data).toMatchObject({
      name: 'Late',
      visibility: 'only_me',
      is_default: false,
      owner: org.adminEmail,
      filters: LATE,
    })
    expect(data.sort).toEqual(DOWN)
    const path = `${base}/views/${data.view_id}`
    const changed = await org.call('PATCH', path, { name: 'Later', row_height: 50, created_at: null })
    expect(changed.body.data).toMatchObject({ name: 'Later', row_height: 50, filters: LATE })
    expect((await org.call('GET', path)).body.data).toEqual(changed.body.data)
    expect((await org.call('GET', `${base}/views`)).body.data.map((view: Json) => view.name)).toEqual([
      'All rows',
      'Later',
    ])
    const gone = await org.call('DELETE', path)
    expect([gone.status, gone.body.data]).toEqual([200, { view_id: data.view_id, deleted: true }])
    expect((await org.call('GET', path)).status).toBe(404)
  })

  it('`is_default: true` moves the default view, which cannot be deleted, made private or unset', async () => {
    const { base } = await fill()
    const { data } = await add(base, { name: 'First', is_default: true })
    const views = (await org.call('GET', `${base}/views`)).body.data
    expect(views.map(({ name, is_default }: Json) => [name, is_default])).toEqual([
      ['First', true],
      ['All rows', false],
    ])
    const path = `${base}/views/${data.view_id}`
    expect((await org.call('DELETE', path)).status).toBe(409)
    expect((await org.call('PATCH', path, { visibility: 'only_me' })).body.errors).toMatchObject([
      { field: 'visibility' },
    ])
    expect((await org.call('PATCH', path, { is_default: false })).body.errors).toMatchObject([
      { field: 'is_default' },
    ])
    expect(
      (await org.call('POST', `${base}/views`, { name: 'x', is_default: true, visibility: 'only_me' }))
        .status,
    ).toBe(400)
  })

  it('`only_me` is 404 to others, admins too; shared ones are seen by all', async () => {
    const { base } = await fill()
    const mine = await add(base, { name: 'Mine', visibility: 'only_me' })
    const shared = await add(base, { name: 'Ours' })
    const key = await org.keyFor('other@example.com', 'admin')
    const other = {
      call: (method: string, path: string, body?: unknown) => app.call(key, method, path, body),
    }
    expect((await other.call('GET', `${base}/views/${mine.data.view_id}`)).status).toBe(404)
    expect((await other.call('DELETE', `${base}/views/${mine.data.view_id}`)).status).toBe(404)
    expect((await other.call('GET', `${base}/views`)).body.data.map((view: Json) => view.name)).toEqual([
      'All rows',
      'Ours',
    ])
    expect(
      (await other.call('POST', `${base}/rows/list`, { view_id: mine.data.view_id })).body.errors,
    ).toMatchObject([{ field: 'view_id' }])
    expect(
      (await other.call('PATCH', `${base}/views/${shared.data.view_id}`, { visibility: 'only_me' })).status,
    ).toBe(403)
  })

  it('`view_id` selects its rows in its order; more filters both hold, and a sort of the body replaces its own', async () => {
    const { base } = await fill()
    const { view_id } = (await add(base, { name: 'Late', filters: LATE, sort: DOWN })).data
    expect(namesOf(await list(base, { view_id }))).toEqual(['P4', 'P3'])
    expect(namesOf(await list(base, { view_id, sort: [{ field: 'created_at' }] }))).toEqual(['P3', 'P4'])
    expect(namesOf(await list(base, { view_id, sort: [] }))).toEqual(['P3', 'P4'])
    const filters = [{ variable: '{{input.n}}', operator: 'less than', values: ['4'] }]
    expect(namesOf(await list(base, { view_id, filters }))).toEqual(['P3'])
    expect((await org.call('POST', `${base}/estimate`, { view_id })).body.data.rows).toBe(2)
    expect((await list(base, { view_id: newId() })).body.errors).toMatchObject([{ field: 'view_id' }])
    for (const body of [{ first_10: true }, { row_ids: [newId()] }, { all: true }])
      expect((await org.call('POST', `${base}/run`, { view_id, ...body })).status).toBe(400)
  })

  it('a filter on the time of creation of a view and one of the body both hold', async () => {
    const { base } = await fill()
    const created_at = { operator: 'greater than', values: ['2020-01-01'] }
    const { view_id } = (await add(base, { name: 'New', created_at })).data
    expect(namesOf(await list(base, { view_id }))).toHaveLength(4)
    const past = { operator: 'less than', values: ['2021-01-01'] }
    expect(namesOf(await list(base, { view_id, created_at: past }))).toEqual([])
  })

  describe('shown columns', () => {
    let base: string
    let ids: string[]
    beforeAll(async () => {
      ;({ base, ids } = await fill())
      await sql`insert into cells (org_id, sheet_id, row_id, action, status, outputs, run_id, revision, attempts, credits_millis,
          cached, started_at)
        values (${org.orgId}, ${base.split('/')[2]}, ${ids[0]}, ${NAME}, 'complete', '{"first":"Ada","last":7}', ${newId()}, 1, 1,
          0, false, now())`.execute(app.store.org(org.orgId))
    })

    it('rows have their values, also further pages of an order', async () => {
      const columns = [
        { variable: '{{input.n}}', width: 90 },
        { action_instance_id: NAME, path: 'first' },
        { action_instance_id: NAME, path: 'last', name: 'Family', frozen: true },
        { action_instance_id: NAME, hidden: true },
      ]
      const { data } = await add(base, { name: 'Shown', columns })
      expect(data.columns[1]).toMatchObject({
        name: expect.stringMatching(/: first$/),
        type: 'string',
        reference: `{{${NAME}.first}}`,
      })
      const page = await list(base, { view_id: data.view_id, page_size: 1 })
      expect(page.body.data.rows[0].shown).toEqual({ [data.columns[1].name]: 'Ada', Family: 7 })
      const sorted = await list(base, { view_id: data.view_id, sort: DOWN, page_size: 1 })
      const { order_id } = sorted.body.data
      const last = await list(base, { order_id, page_no: 4, page_size: 1 })
      expect(last.body.data.rows[0].shown).toEqual({ [data.columns[1].name]: 'Ada', Family: 7 })
      expect(sorted.body.data.rows[0].shown).toEqual({ [data.columns[1].name]: null, Family: null })
    })

    it('a path to nowhere warns; a name twice, an unknown action or input is 400', async () => {
      const nowhere = await add(base, { name: 'x', columns: [{ action_instance_id: NAME, path: 'nothing' }] })
      expect(nowhere.warnings).toMatchObject([{ field: 'columns[0].path', code: 'unresolved_reference' }])
      const wrong = await org.call('POST', `${base}/views`, {
        name: 'x',
        columns: [
          { variable: '{{input.z}}' },
          { action_instance_id: 'no_1' },
          { action_instance_id: NAME, path: 'first', name: 'same' },
          { action_instance_id: NAME, path: 'last', name: 'same' },
        ],
        sort: [{ variable: '{{input.y}}' }],
      })
      expect(wrong.body.errors.map(({ field }: Json) => field).sort()).toEqual([
        'columns[0].variable',
        'columns[1].action_instance_id',
        'columns[3].name',
        'sort[0].variable',
      ])
    })
  })

  it('follows a renamed input; a view with a filter on what is gone is a 400 at `view_id`', async () => {
    const { base } = await fill()
    const { view_id } = (await add(base, { name: 'Late', filters: LATE, sort: DOWN })).data
    const renamed = await org.call('PATCH', `${base}/inputs/n`, { name: 'number' })
    expect(renamed.status).toBe(200)
    expect((await org.call('GET', `${base}/views/${view_id}`)).body.data.filters).toMatchObject([
      { variable: '{{input.number}}' },
    ])
    expect(namesOf(await list(base, { view_id }))).toEqual(['P4', 'P3'])
    await org.call('DELETE', `${base}/inputs/number`)
    const { status, body } = await list(base, { view_id })
    expect([status, body.errors]).toMatchObject([400, [{ field: 'view_id' }]])
  })

  it('the 101st view of a sheet is a conflict', async () => {
    const { base } = await fill()
    await sql`insert into views (org_id, view_id, sheet_id, name, visibility, settings)
      select ${org.orgId}, gen_random_uuid(), ${base.split('/')[2]}, 'v', 'shared', '{}' from generate_series(1, 99)`.execute(
      app.store.org(org.orgId),
    )
    expect((await org.call('POST', `${base}/views`, { name: 'x' })).status).toBe(409)
  })

  it('duplicating a workflow copies shared views', async () => {
    const { base } = await fill()
    await add(base, { name: 'Late', filters: LATE, is_default: true })
    await add(base, { name: 'Mine', visibility: 'only_me' })
    const { data } = (await org.call('POST', `${base.split('/sheets')[0]}/duplicate`, { name: 'Copy' })).body
    const views = (await org.call('GET', `/workflows/${data.workflow_id}/sheets/${data.workflow_id}/views`))
      .body.data
    expect(views.map(({ name, is_default }: Json) => [name, is_default])).toEqual([
      ['Late', true],
      ['All rows', false],
    ])
  })

  it('a view that a schedule uses cannot be deleted: the answer names the schedule', async () => {
    const { base } = await fill()
    const { view_id } = (await add(base, { name: 'Late', filters: LATE })).data
    const sheet = { org_id: org.orgId, sheet_id: base.split('/')[2] ?? '' }
    const author = { email: 'x@example.com', keyId: null }
    await setSchedule(app.store.org(org.orgId), author, sheet, { cron: '0 9 * * *', viewId: view_id })
    const { status, body } = await org.call('DELETE', `${base}/views/${view_id}`)
    expect([status, body.message]).toEqual([409, expect.stringContaining('`0 9 * * *`')])
  })
})

describe('G11: rows by selection', () => {
  it('Delete Rows takes a selection or `all: true`, without some', async () => {
    const { base, ids } = await fill()
    const remove = (body: object) => org.call('POST', `${base}/rows/delete`, body)
    expect((await remove({ filters: LATE, exclude_row_ids: [ids[3]] })).body.data).toEqual({
      deleted_count: 1,
      deleted_row_ids: [],
      rejected: [],
    })
    expect(namesOf(await list(base, {}))).toEqual(['P1', 'P2', 'P4'])
    for (const body of [
      {},
      { filters: [] },
      { all: true, filters: LATE },
      { row_ids: [ids[0]], all: true },
      { row_ids: [ids[0]], exclude_row_ids: [ids[1]] },
    ])
      expect((await remove(body)).status, JSON.stringify(body)).toBe(400)
    expect((await remove({ all: true, exclude_row_ids: [ids[0]] })).body.data.deleted_count).toBe(2)
    expect((await remove({ row_ids: [ids[0]] })).body.data).toMatchObject({ deleted_row_ids: [ids[0]] })
  })

  it('Run Rows and estimates take `all: true` and `exclude_row_ids`', async () => {
    const { base, ids } = await fill()
    const body = { all: true, exclude_row_ids: ids.slice(0, 3) }
    expect((await org.call('POST', `${base}/estimate`, body)).body.data.rows).toBe(1)
    expect((await org.call('POST', `${base}/run`, { ...body, dry_run: true })).body.data.rows).toBe(1)
    expect((await org.call('POST', `${base}/run`, body)).body.data).toEqual({ rows_queued: 1 })
    expect((await org.call('POST', `${base}/run`, { first_10: true, exclude_row_ids: ids })).status).toBe(400)
    expect((await org.call('POST', `${base}/estimate`, { new_rows: 5, exclude_row_ids: ids })).status).toBe(
      400,
    )
  })

  it('rows of a run start in the order of `sort`; `first_10` is the first of it', async () => {
    const base = await makeSheet(call, ['name', 'n'], [ACTION])
    const rows = Array.from({ length: 200 }, (_, n) => ({ name: 'x', n: String((n * 37) % 200) }))
    const { row_ids } = (await call('POST', `${base}/rows`, { rows })).data
    const valueOf = new Map(row_ids.map((id: string, place: number) => [id, (place * 37) % 200]))
    const started = async (body: object) => {
      const answer = await org.call('POST', `${base}/run`, body)
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
      const run = answer.headers['x-run-id']
      const { rows: jobs } = await sql<{ r: Json }>`
        select payload -> 'r' as r from (
          select 0 as queue, payload, priority, id from graphile_worker._private_jobs
          union all select 1, payload, priority, id from graphile_groups._private_jobs
        ) jobs where payload ->> 'run' = ${run} order by queue, priority, id`.execute(app.store.system)
      return jobs.flatMap(({ r }) => r).map((id: string) => valueOf.get(id))
    }
    expect(await started({ first_10: true, sort: DOWN })).toEqual([
      199, 198, 197, 196, 195, 194, 193, 192, 191, 190,
    ])
    const rest = await started({ all: true, sort: [{ variable: '{{input.n}}' }] })
    expect(rest).toEqual(Array.from({ length: 190 }, (_, n) => n))
  })
})
