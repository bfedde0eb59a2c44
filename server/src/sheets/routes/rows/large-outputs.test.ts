import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { echo, exportsOf } from '../../../api/testing/exports.ts'

const app = await makeApp({ services: { catalogue: catalogueOf(echo) } })
await startTestWorker(app)
const org = await app.makeOrg()
const { addRows, makeSheet, list } = rowsOf(org)

const MOST = 32_768
const FRAME = JSON.stringify({ heard: null, said: '' }).length
const saying = (characters: number, fill: string) => ({ heard: null, said: fill.repeat(characters) })

async function sheetOf(outputs: object[]): Promise<{ base: string; rows: Json[] }> {
  const base = await makeSheet(['json'])
  await org.call('POST', `${base}/actions/add`, { action_id: 'echo', inputs: { json: '{{input.json}}' } })
  await addRows(
    base,
    outputs.map((value) => ({ json: JSON.stringify(value) })),
  )
  await org.call('POST', `${base}/run-all`)
  return { base, rows: await settledRows(org, base) }
}

const pathOf = (url: string) => url.replace('http://loam.test', '')

/**
 * A text that hardly shrinks when compressed, like most texts of that length. It begins with a letter, because a CSV would
 * quote a leading sign.
 */
const noise = randomBytes((MOST / 4) * 3)
  .toString('base64')
  .replace(/^./, 'x')

describe('D44: `outputs_ref` for outputs over 32 KB of JSON', () => {
  it.each([
    ['x', 'text that takes little room in the database'],
    ['ü', 'text of more bytes than characters'],
  ])('exactly 32 KB are inline, one more is not: %s (%s)', async (fill) => {
    const size = Buffer.byteLength(fill)
    const most = Math.floor((MOST - FRAME) / size)
    const outputs = [saying(most, fill), saying(most + 1, fill)]
    const { rows } = await sheetOf(outputs)
    const [small, large] = rows.map((row) => row.cells.echo_1)
    expect(small).toEqual({ status: 'complete', outputs: outputs[0] })
    expect(large).toEqual({
      status: 'complete',
      outputs_ref: { url: expect.any(String), size_bytes: FRAME + (most + 1) * size },
    })
  })

  it('whatever they take in the database, also when they are read again', async () => {
    const inline = { heard: null, said: noise.slice(0, 32_000) }
    const outputs = [
      inline,
      { heard: noise, said: noise },
      { heard: Array.from({ length: 15_000 }, () => 1), said: null },
    ]
    const { base, rows } = await sheetOf(outputs)
    const sizes = [undefined, ...[1, 2].map((n) => JSON.stringify(outputs[n]).length)]
    expect(sizes[2]).toBeLessThan(MOST)
    for (const read of [rows, (await list(base)).rows, (await list(base)).rows]) {
      const cells = read.map((row: Json) => row.cells.echo_1)
      expect(cells[0]).toEqual({ status: 'complete', outputs: inline })
      expect(cells[1].outputs_ref.size_bytes).toBe(sizes[1])
      expect(cells[1]).not.toHaveProperty('outputs')
      expect(cells[2].outputs).toEqual(outputs[2])
    }
  })

  it('a cell that is run again shows the size it has now', async () => {
    const { base, rows } = await sheetOf([{ heard: noise, said: noise }])
    const first = rows[0].cells.echo_1.outputs_ref.size_bytes
    await org.call('PATCH', `${base}/actions/echo_1`, {
      inputs: { json: JSON.stringify({ heard: noise, said: `${noise}and more` }) },
    })
    await org.call('POST', `${base}/run-all`)
    const again: Json[] = await settledRows(org, base)
    expect(again[0].cells.echo_1.outputs_ref.size_bytes).toBe(first + 'and more'.length)
  })

  it('the URL is fetched with the API key and returns the outputs; the cell endpoint has it too (D67)', async () => {
    const outputs = { heard: { deep: ['ü', 1.5, null] }, said: noise + noise }
    const { base, rows } = await sheetOf([outputs])
    const { url, size_bytes } = rows[0].cells.echo_1.outputs_ref
    expect(url).toBe(`http://loam.test/api/v1${base}/rows/${rows[0].row_id}/cells/echo_1/outputs`)
    const answer = await app.api.inject({ url: pathOf(url), headers: { authorization: `Bearer ${org.key}` } })
    expect([answer.statusCode, answer.json()]).toEqual([200, outputs])
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(size_bytes),
    })
    expect(answer.rawPayload.length).toBe(size_bytes)
    const cell = (await org.call('GET', `${base}/rows/${rows[0].row_id}/cells/echo_1`)).body.data
    expect(cell).toMatchObject({
      status: 'complete',
      outputs_ref: { url, size_bytes },
      provenance: { attempts: 1 },
    })
    expect(cell).not.toHaveProperty('outputs')
  })

  it('needs the key, the scope workflows:data:read and access, as the row itself does', async () => {
    const { base, rows } = await sheetOf([{ said: noise + noise }])
    const path = pathOf(rows[0].cells.echo_1.outputs_ref.url)
    const other = await app.makeOrg()
    const narrow = await org.keyFor('reader@example.com', 'admin', { scopes: ['workflows:read'] })
    const member = await org.keyFor('member@example.com', 'member')
    const statuses = [null, narrow, other.key, member].map(
      async (key) => (await app.call(key, 'GET', path)).status,
    )
    expect(await Promise.all(statuses)).toEqual([401, 403, 404, 403])
    const elsewhere = path.replace(
      rows[0].row_id,
      rows[0].row_id.replace(/.$/, (last: string) => (last === '0' ? '1' : '0')),
    )
    expect((await org.call('GET', elsewhere)).status).toBe(404)
    expect((await org.call('GET', path.replace('echo_1', 'echo_2'))).status).toBe(404)
    expect((await org.call('GET', `${base}/rows/nonsense/cells/echo_1/outputs`)).status).toBe(400)
  })

  it('a cell that failed, or never ran, has no outputs to read', async () => {
    const { base } = await sheetOf([{}])
    await org.call('POST', `${base}/rows/delete-all`)
    const [row] = await addRows(base, [{ json: '' }])
    const path = `${base}/rows/${row}/cells/echo_1/outputs`
    expect((await org.call('GET', path)).status).toBe(404)
    await org.call('POST', `${base}/run-all`)
    expect((await settledRows(org, base))[0]?.row_status).toBe('has_failures')
    expect((await org.call('GET', path)).status).toBe(404)
  })

  it('the known size is not read again: List Rows leaves large outputs where they are', async () => {
    const { base, rows } = await sheetOf([{ said: noise.repeat(20) }])
    const size = rows[0].cells.echo_1.outputs_ref.size_bytes
    // The same version with other contents: a read of the outputs would show them.
    await sql`update cells set outputs = ${JSON.stringify({ said: noise.repeat(10) })}::jsonb
      where org_id = ${org.orgId} and row_id = ${rows[0].row_id}`.execute(app.store.system)
    expect((await list(base)).rows[0].cells.echo_1.outputs_ref.size_bytes).toBe(size)
  })

  it('an export always has the whole value', async () => {
    const { base } = await sheetOf([{ said: noise.repeat(5) }])
    const { csv, jsonl } = exportsOf(app, org)
    expect((await csv(base))[1]?.[1]).toBe(noise.repeat(5))
    expect((await jsonl(base))[0]['Echo: said']).toBe(noise.repeat(5))
  })
})
