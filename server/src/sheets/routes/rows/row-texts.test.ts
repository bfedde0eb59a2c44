import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { success } from '#contract/envelope.ts'
import { RowPage } from '#contract/rows.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { makeApp } from '#test/plumbing/harness.ts'

// Pages of rows are written as text (row-pages.ts). Whatever people and providers put into them, they must be JSON of the
// contract.

const app = await makeApp()
const org = await app.makeOrg()
const { addRows, makeSheet } = rowsOf(org)

/** The signs that separate parts of what the database returns, and signs that JSON escapes. */
const SIGNS = '\u001f\u001e\u0001\t\n"\\\u2028 ü 😀'
const LONG = '12345678901234567890.123'
const NAMES = ['say "hi"', 'back\\slash', '__proto__', 'ü \u2028 😀']

async function readPage(base: string): Promise<string> {
  const headers = { authorization: `Bearer ${org.key}`, 'content-type': 'application/json' }
  const answer = await app.api.inject({
    method: 'POST',
    url: `/api/v1${base}/rows/list`,
    headers,
    payload: '{}',
  })
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([
    200,
    'application/json; charset=utf-8',
  ])
  expect(success(200, RowPage).safeParse(answer.json()).error).toBeUndefined()
  return answer.payload
}

it('List Rows returns the JSON of the contract, whatever names, values, outputs and errors contain', async () => {
  const base = await makeSheet(NAMES)
  const values = Object.fromEntries(NAMES.map((name, n) => [name, n === 0 ? SIGNS : `${n}`]))
  const row = Object.assign(Object.create(null), values) as Record<string, string>
  const [id = ''] = await addRows(base, [row])
  for (const value of ['a.example', 'b.example', 'c.example'])
    await org.call('POST', `${base}/actions/add`, { action_id: 'normalize_domain', inputs: { value } })
  const [, , , , sheet] = base.split('/')
  const outputs = JSON.stringify({ ['__proto__']: 1, text: SIGNS, [SIGNS]: [null, {}] }).replace('1', LONG)
  await sql`insert into cells (org_id, sheet_id, row_id, action, status, outputs, error, run_id, revision, attempts,
      credits_millis, cached, started_at)
    select ${org.orgId}::uuid, ${sheet}::uuid, ${id}::uuid, a, s, o::jsonb, e, ${id}::uuid, 1, 1, 0, false, now() from (values
      ('normalize_domain_1', 'complete', ${outputs}, null),
      ('normalize_domain_2', 'failed', null, ${SIGNS}),
      ('normalize_domain_3', 'complete', '{}', '')) as cell (a, s, o, e)`.execute(app.store.system)

  const page = await readPage(base)
  expect(page).toContain(LONG)
  const [answered] = JSON.parse(page).data.rows
  expect(Object.keys(answered.inputs)).toEqual(NAMES)
  expect(Object.entries(answered.inputs)).toEqual(Object.entries(row))
  const { normalize_domain_1: first, ...others } = answered.cells
  expect(Object.keys(first.outputs).toSorted()).toEqual(['__proto__', 'text', SIGNS].toSorted())
  expect([first.status, first.outputs.text, first.outputs[SIGNS]]).toEqual(['complete', SIGNS, [null, {}]])
  expect(others).toEqual({
    normalize_domain_2: { status: 'failed', error: SIGNS },
    normalize_domain_3: { status: 'complete', outputs: {}, error: '' },
  })
  expect(answered.row_status).toBe('has_failures')
})

it('the pages of a sheet without rows, and past its end, are empty', async () => {
  const base = await makeSheet(['name'])
  expect(JSON.parse(await readPage(base)).data).toEqual({
    rows: [],
    total_count: 0,
    page_no: 1,
    page_size: 20,
  })
  await addRows(base, [{ name: 'x' }])
  const { body } = await org.call('POST', `${base}/rows/list`, { page_no: 3, page_size: 5 })
  expect(body.data).toEqual({ rows: [], total_count: 1, page_no: 3, page_size: 5 })
})
