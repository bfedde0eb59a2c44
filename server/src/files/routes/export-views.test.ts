import { describe, expect, it } from 'vitest'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { targets } from '#test/plumbing/databases.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { echo, exportsOf } from '../../api/testing/exports.ts'

// Uses the oldest supported PostgreSQL, because PostgreSQL writes the lines.
const target = targets().at(-1)
const app = await makeApp({
  services: { catalogue: catalogueOf(echo) },
  ...(target === undefined ? {} : { target }),
})
await startTestWorker(app)
const org = await app.makeOrg()
const { addRows, makeSheet } = rowsOf(org)
const { csv, jsonl } = exportsOf(app, org)

async function fill(): Promise<string> {
  const base = await makeSheet(['name', 'n'])
  const said = '{"said":"{{input.name}}","heard":{"list":[{"x":{{input.n}}}]}}'
  await org.call('POST', `${base}/actions/add`, { action_id: 'echo', inputs: { json: said } })
  await addRows(base, [
    { name: 'b', n: '2' },
    { name: 'c', n: '10' },
    { name: 'A', n: '9' },
  ])
  await org.call('POST', `${base}/run-all`)
  await settledRows(org, base)
  return base
}

describe('G3, G4: exports', () => {
  it('have the rows in the order of `sort`', async () => {
    const base = await fill()
    const byName = await csv(base, { sort: [{ variable: '{{input.name}}' }] })
    expect(byName.slice(1).map(([name]) => name)).toEqual(['A', 'b', 'c'])
    const sort = [{ variable: '{{echo_1.heard.list[0].x}}', direction: 'desc' }]
    const byOutput = await jsonl(base, {
      sort,
      filters: [{ variable: '{{input.n}}', operator: 'greater than', values: ['2'] }],
    })
    expect(byOutput).toMatchObject([{ name: 'c' }, { name: 'A' }])
  })

  it('with a view have its rows, columns, order and names, and no hidden ones', async () => {
    const base = await fill()
    const columns = [
      { action_instance_id: 'echo_1', path: 'heard.list[0].x', name: 'Number' },
      { variable: '{{input.n}}', hidden: true },
      { action_instance_id: 'echo_1', path: 'said' },
      { action_instance_id: 'echo_1', hidden: true },
    ]
    const filters = [{ variable: '{{echo_1.said}}', operator: 'is not', values: ['c'] }]
    const sort = [{ variable: '{{input.n}}', direction: 'desc' }]
    const made = await org.call('POST', `${base}/views`, { name: 'Short', columns, filters, sort })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    expect(await csv(base, { view_id: made.body.data.view_id })).toEqual([
      ['Number', 'Echo: said', 'name'],
      ['9', 'A', 'A'],
      ['2', 'b', 'b'],
    ])
    const refused = await org.call('POST', `${base}/export`, { view_id: made.body.data.view_id, row_ids: [] })
    expect(refused.status).toBe(400)
  })
})
