import { expect, it } from 'vitest'
import { serveDouble } from '#server/catalog/testing/provider-double.ts'
import { loadSources } from '#server/sources/registry.ts'
import { makeSourceApp } from './testing/source-app.ts'

const sources = await makeSourceApp({}, await loadSources())
const { app } = sources

it('D49, D28: records with ids beyond 2^53 stay apart, and numbers are kept in preview, data and rows', async () => {
  const org = await app.makeOrg()
  let items = [
    '{"id":12345678901234567890,"name":"A","price":1.50,"more":{"n":[12345678901234567890,2.50]}}',
    '{"id":12345678901234567891,"name":"B","price":2,"more":{"n":[1]}}',
    '{"id":3,"name":"C","price":3.25,"more":null}',
  ]
  const { origin } = await serveDouble(() => ({ text: `{"data":[${items.join(',')}]}` }))
  const body = { url: `${origin}/items`, items_path: 'data', key_path: 'id' }
  const textOf = async (method: 'GET' | 'POST', path: string, payload?: object) => {
    const headers = { authorization: `Bearer ${org.key}` }
    const url = `/api/v1/${path}`
    return (await app.api.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) }))
      .body
  }
  const all = () => `[${items.join(',')}]`
  expect(await textOf('POST', 'sources/import_from_api/preview', body)).toContain(`"data":${all()}`)

  const { body: made } = await org.call('POST', '/workflows', { name: 'Target' })
  const workflow_id: string = made.data.workflow_id
  const base = `/workflows/${workflow_id}/sheets/${workflow_id}`
  const names = ['id', 'price', 'more']
  await org.call(
    'POST',
    `${base}/inputs`,
    names.map((name) => ({ name, type: 'string' })),
  )
  const id = await sources.create(org, 'import_from_api', { ...body, schedule: 'hourly' })
  await sources.pull(org, id)
  const sync = {
    workflow_id,
    field_mapping: Object.fromEntries(names.map((name) => [`input.${name}`, name])),
    on_change: 'update',
  }
  expect((await org.call('POST', `/sources/${id}/sync`, sync)).status).toBe(201)
  await sources.deliver(org, id, workflow_id)
  expect(await sources.show(org, id)).toMatchObject({ lead_count: 3, syncs: [{ delivered: 3 }] })
  expect(await textOf('GET', `sources/${id}/data`)).toContain(`"rows":${all()}`)
  const listRows = () => textOf('POST', `${base.slice(1)}/rows/list`, {})
  const rows = await listRows()
  expect(rows).toContain(
    '"inputs":{"id":"12345678901234567890","price":"1.50","more":{"n":[12345678901234567890,2.50]}}',
  )
  expect(rows).toContain('"inputs":{"id":"12345678901234567891","price":"2","more":{"n":[1]}}')

  items = items.map((item) =>
    item.replace('"price":2,"more":{"n":[1]}', '"price":2.10,"more":{"n":[98765432109876543210]}'),
  )
  await sources.set(id, 'next_pull_at = now()')
  await sources.pull(org, id)
  await sources.deliver(org, id, workflow_id)
  expect(await listRows()).toContain(
    '"inputs":{"id":"12345678901234567891","price":"2.10","more":{"n":[98765432109876543210]}}',
  )
  expect(await sources.show(org, id)).toMatchObject({
    lead_count: 3,
    last_pull: { updated: 1, unchanged: 2 },
  })
})
