import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { echo } from '../../../api/testing/exports.ts'

const app = await makeApp({ services: { catalogue: catalogueOf(echo) } })
await startTestWorker(app)
const org = await app.makeOrg()
const { addRows, makeSheet, list } = rowsOf(org)
const MAX_BYTES = 8 * 1024 * 1024

it('D44: outputs of one page are inline up to 8 MiB, those beyond it by `outputs_ref`', async () => {
  const base = await makeSheet(['text'])
  const said = `x${randomBytes(15_500).toString('hex')}`
  for (let n = 0; n < 3; n++) {
    const inputs = { json: `{"said": "${said.slice(0, -n - 1)}{{input.text}}"}` }
    await org.call('POST', `${base}/actions/add`, { action_id: 'echo', inputs })
  }
  await addRows(
    base,
    Array.from({ length: 100 }, () => ({ text: 'x' })),
  )
  await org.call('POST', `${base}/run-all`)
  await settledRows(org, base)
  const { rows } = await list(base, { page_size: 200 })
  const cells: Json[] = rows.flatMap((row: Json) => Object.values(row.cells))
  expect(cells.length).toBe(300)
  const inline = cells.flatMap(({ outputs }) =>
    outputs === undefined ? [] : [JSON.stringify(outputs).length],
  )
  const total = inline.reduce((sum, bytes) => sum + bytes, 0)
  expect(total).toBeLessThanOrEqual(MAX_BYTES)
  expect(total).toBeGreaterThan(MAX_BYTES - 40_000)
  const { outputs_ref } = cells.find((cell) => cell.outputs === undefined)
  const path = outputs_ref.url.replace('http://loam.test/api/v1', '')
  const { body } = await org.call('GET', path)
  expect(JSON.stringify(body).length).toBe(outputs_ref.size_bytes)
})
