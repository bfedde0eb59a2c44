import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { rowsOf } from '#test/builders/rows.ts'
import { makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()
const org = await app.makeOrg()
const { makeSheet, addRows } = rowsOf(org)
const base = await makeSheet()
const long = 'a'.repeat(1000)
await addRows(base, [{ Company: `${long}a` }, { Company: 'Acme' }])

const filterOf = (operator: string, value: string) => ({
  filters: [{ variable: '{{input.Company}}', operator, values: [value] }],
})

describe('texts that are looked for (F59)', () => {
  it.each([
    ['contains', 1],
    ['does not contain', 1],
  ])('%s takes 1,000 characters and refuses 1,001', async (operator, count) => {
    const found = await org.call('POST', `${base}/rows/list`, filterOf(operator, long))
    expect([found.status, found.body.data.total_count]).toEqual([200, count])
    const refused = await org.call('POST', `${base}/rows/list`, filterOf(operator, `${long}a`))
    expect([refused.status, refused.body.errors]).toEqual([
      400,
      [{ field: 'filters[0].values', message: `\`${operator}\` takes at most 1000 characters` }],
    ])
  })

  it('equality takes more', async () => {
    const found = await org.call('POST', `${base}/rows/list`, filterOf('is equal to', `${long}a`))
    expect([found.status, found.body.data.total_count]).toEqual([200, 1])
  })

  it.each([
    'contains',
    'does not contain',
    'starts with',
    'does not start with',
    'ends with',
    'does not end with',
  ])('a condition with %s takes 1,000 characters and refuses 1,001', async (operator) => {
    const add = (value: string) =>
      org.call('POST', `${base}/actions/add`, {
        action_id: 'format_data_using_js_expression',
        inputs: { data_formatter: '1' },
        run_if: {
          conditions: [{ conditions: [{ variable: '{{input.Company}}', operator, values: [value] }] }],
        },
      })
    expect((await add(long)).status).toBe(201)
    const refused = await add(`${long}a`)
    expect([refused.status, refused.body.errors]).toEqual([
      400,
      [
        {
          field: 'run_if.conditions[0].conditions[0].values',
          message: `\`${operator}\` takes at most 1000 characters`,
        },
      ],
    ])
  })
})

it('a statement that reaches its time limit returns 503 with Retry-After (F59)', async () => {
  const db = app.store.system
  await db.transaction().execute(async (trx) => {
    await sql`lock table rows in access exclusive mode`.execute(trx)
    const answer = org.call('POST', `${base}/rows/list`, filterOf('contains', 'acme'))
    await expect
      .poll(async () => {
        const { rows } = await sql<{ ended: boolean }>`
          select pg_cancel_backend(pid) as ended from pg_locks where relation = 'rows'::regclass and not granted`.execute(
          trx,
        )
        return rows.length
      })
      .toBe(1)
    const { status, headers, body } = await answer
    expect([status, headers['retry-after'], body.error]).toEqual([503, '10', 'Service Unavailable'])
  })
})
