import { expect, it } from 'vitest'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { makeRowSheet } from '#test/builders/rows.ts'
import { makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

const app = await makeApp({ services: { catalogue: await loadCatalogue() } })

async function runFormula(org: TestOrg, formula: string, rows: number): Promise<string> {
  const base = await makeRowSheet(org)
  const added = await org.call('POST', `${base}/actions/add`, {
    action_id: 'format_data_using_js_expression',
    inputs: { data_formatter: formula },
  })
  expect(added.status).toBe(201)
  await org.call('POST', `${base}/rows`, { rows: Array.from({ length: rows }, () => ({ domain: 'a.b' })) })
  await org.call('POST', `${base}/run-all`)
  return base
}
// More rows at once than the sandbox executes within the timeout of an action.
await startTestWorker(app, { concurrency: 400 })

it('R16: 300 endless formulas of one organisation keep nobody else waiting', async () => {
  const [flood, other] = [await app.makeOrg(), await app.makeOrg()]
  const flooded = await runFormula(flood, '(() => { for (;;) {} })() + {{input.domain}}', 300)
  const list = async () => {
    const { body } = await flood.call('POST', `${flooded}/rows/list`, { page_size: 200 })
    return Map.groupBy<string, { row_status: string; cells: object }>(body.data.rows, (row) => row.row_status)
  }
  await expect.poll(async () => (await list()).has('has_failures')).toBe(true)

  const rows = await settledRows(other, await runFormula(other, '{{input.domain}}.toUpperCase()', 60))
  expect(new Set(rows.map((row) => row.row_status))).toEqual(new Set(['complete']))

  const flooding = await list()
  expect(flooding.has('running')).toBe(true)
  const errors = flooding.get('has_failures')?.map((row) => JSON.stringify(row.cells))
  expect(errors?.filter((error) => !error.includes('took more than 100 ms'))).toEqual([])
})
