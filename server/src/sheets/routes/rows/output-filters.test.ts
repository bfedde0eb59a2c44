import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { makeSheet, type Call } from '#test/builders/sheets.ts'
import { makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()
const org = await app.makeOrg()
const call: Call = async (method, path, body) => (await org.call(method, path, body)).body
const NAME = 'split_full_name_1'
const PAGE = 'http_api_call_1'

describe('G2: filters over outputs', () => {
  let base: string
  let ids: string[]

  beforeAll(async () => {
    base = await makeSheet(
      call,
      ['name'],
      [
        { action_id: 'split_full_name', inputs: { value: '{{input.name}}' } },
        { action_id: 'http_api_call', inputs: { url: 'https://example.com', method: 'GET' } },
      ],
    )
    const rows = ['Ada', 'Bob', 'Cy', 'Di'].map((name) => ({ name }))
    ids = (await call('POST', `${base}/rows`, { rows })).data.row_ids
    await complete(NAME, [
      { first: 'Ada', last: 'King' },
      { first: 'Bob', last: '' },
      { first: 'Cyan', last: null },
    ])
    await complete(PAGE, [
      { status_code: 200, body: { n: 5, tags: ['A', 'b'] } },
      { status_code: 404, body: '{"n": 7}' },
    ])
  })

  /** Completes the cells of an action in the first rows. */
  async function complete(action: string, outputs: unknown[]): Promise<void> {
    await sql`insert into cells (org_id, sheet_id, row_id, action, status, outputs, run_id, revision, attempts, credits_millis,
        cached, started_at)
      select ${org.orgId}, ${base.split('/')[2]}, id, ${action}, 'complete', o, ${newId()}, 1, 1, 0, false, now()
      from unnest(${ids.slice(0, outputs.length)}::uuid[], ${outputs.map((one) => JSON.stringify(one))}::jsonb[]) as t (id, o)`.execute(
      app.store.org(org.orgId),
    )
  }

  const list = (filters: unknown[], more = {}) => org.call('POST', `${base}/rows/list`, { filters, ...more })
  const namesOf = (page: { rows: { inputs: { name: string } }[] }) => page.rows.map((row) => row.inputs.name)

  it.each<[string, string, string[] | undefined, string[]]>([
    [`{{${NAME}.first}}`, 'contains', ['a'], ['Ada', 'Cy']],
    [`{{${NAME}.first}}`, 'starts with', ['b'], ['Bob']],
    [`{{${NAME}.last}}`, 'is empty', undefined, ['Bob', 'Cy', 'Di']],
    [`{{${PAGE}.status_code}}`, 'less than', ['300'], ['Ada']],
    [`{{${PAGE}.body.n}}`, 'is between', ['5', '6'], ['Ada']],
    [`{{${PAGE}.body.n}}`, 'greater than or equal to', ['5'], ['Ada', 'Bob']],
    [`{{${PAGE}.body.tags}}`, 'contains', ['B'], ['Ada']],
    [`{{${PAGE}.body.tags[0]}}`, 'is', ['A'], ['Ada']],
    ['{{input.name}}', 'ends with', ['B'], ['Bob']],
  ])('%s %s %j', async (variable, operator, values, expected) => {
    const { status, body } = await list([{ variable, operator, values }])
    expect([status, body.data && namesOf(body.data)]).toEqual([200, expected])
  })

  it('the answer says that it looked at all rows, and pages on', async () => {
    const filters = [{ variable: `{{${NAME}.first}}`, operator: 'not empty' }]
    const { body } = await list(filters, { page_size: 2, page_no: 2 })
    expect(namesOf(body.data)).toEqual(['Cy'])
    expect(body.data).toMatchObject({ total_count: 3, precision: 'exact', looked_at: 4 })
    const unfiltered = await list([{ variable: '{{input.name}}', operator: 'is', values: ['Ada'] }])
    expect(unfiltered.body.data).not.toHaveProperty('precision')
  })

  it('with other filters, all must hold', async () => {
    const filters = [
      { variable: `{{${NAME}.first}}`, operator: 'not empty' },
      { variable: '{{input.name}}', operator: 'not equal to', values: ['Ada'] },
    ]
    const status_filters = [{ action_instance_id: PAGE, is: ['complete'] }]
    expect(namesOf((await list(filters, { status_filters })).body.data)).toEqual(['Bob'])
  })

  it('names every variable that the sheet does not have, and every operator that a type lacks', async () => {
    const { status, body } = await list([
      { variable: `{{${NAME}.frist}}`, operator: 'is empty' },
      { variable: '{{nothing_1.a}}', operator: 'is empty' },
      { variable: `{{${PAGE}.status_code}}`, operator: 'starts with', values: ['2'] },
      { variable: '{{env.KEY}}', operator: 'is empty' },
    ])
    expect(status).toBe(400)
    expect(body.errors).toEqual([
      { field: 'filters[0].variable', message: expect.stringContaining(`did you mean {{${NAME}.first}}?`) },
      { field: 'filters[1].variable', message: expect.stringContaining('no output') },
      { field: 'filters[2].operator', message: expect.stringContaining('the output is of type number') },
      { field: 'filters[3].variable', message: expect.any(String) },
    ])
  })

  it('refuses values that an operator cannot compare', async () => {
    const variable = '{{input.name}}'
    const { body } = await list([
      { variable, operator: 'is between', values: ['1', '2024-01-01'] },
      { variable, operator: 'is after', values: ['soon'] },
      { variable, operator: 'less than or equals to', values: ['x'] },
    ])
    expect(body.errors.map(({ field }: { field: string }) => field)).toEqual([
      'filters[0].values',
      'filters[1].values',
      'filters[2].values',
    ])
  })

  it('rows are deleted and estimated by them', async () => {
    const filters = [{ variable: `{{${PAGE}.status_code}}`, operator: 'is', values: ['404'] }]
    const estimate = await org.call('POST', `${base}/estimate`, { filters })
    expect(estimate.body.data.rows).toBe(1)
    expect((await org.call('POST', `${base}/rows/delete-all`, { filters })).body.data).toEqual({
      deleted_count: 1,
    })
  })
})
