import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'
import { fileSweepJob } from './file-sweep.ts'
import { announceFile } from './store/files.ts'
import { storeUpload } from './uploads.ts'

const app = await makeApp()
const { store, services } = app
const { storage } = services
const { orgId, adminEmail } = await app.makeOrg()
const sweep = (at = storage) => fileSweepJob({ store, storage: at }).run({}, new AbortController().signal)

async function* body(content: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(content)
}

const put = (name: string, content = 'a\n1\n') =>
  storeUpload({ db: store.system, storage }, { orgId, name, createdBy: adminEmail }, body(content))

const expireIn = (ref: string, interval: string) =>
  sql`update files set expires_at = now() + ${interval}::interval where file_ref = ${ref}`.execute(
    store.system,
  )

const known = async () =>
  (await store.system.selectFrom('files').select('file_ref').execute()).map(({ file_ref }) => file_ref)

it('an upload has an unguessable key with its extension, and its bytes are stored as they are', async () => {
  const [one, two] = [await put('Leads 2024.CSV', 'ü'), await put('leads.xlsx')]
  expect(one).toEqual({ file_ref: expect.stringMatching(/^[0-9A-Za-z]{32}\.csv$/), size_bytes: 2 })
  expect(two.file_ref).toMatch(/^[0-9A-Za-z]{32}\.xlsx$/)
  const stored = await storage.read(`${orgId}/${one.file_ref}`)
  expect(stored === null ? null : await text(stored)).toBe('ü')
})

it('an upload expires 7 days after it arrived', async () => {
  const { file_ref } = await put('leads.csv')
  const { rows } = await sql<{
    days: number
  }>`select extract(epoch from expires_at - created_at) / 86400 as days
    from files where file_ref = ${file_ref}`.execute(store.system)
  expect(Number(rows[0]?.days)).toBeCloseTo(7, 3)
})

it.each(['leads.txt', 'leads.csv.gz', 'csv', 'leads.xls'])('%s is not stored', async (name) => {
  const before = await known()
  await expect(put(name)).rejects.toMatchObject({ details: { errors: [{ field: 'path' }] } })
  expect(await known()).toEqual(before)
})

it('expired files of any kind are removed from storage and table; the rest stays', async () => {
  const [old, fresh] = [(await put('old.csv')).file_ref, (await put('fresh.csv')).file_ref]
  const made = {
    org_id: orgId,
    file_ref: 'made.csv',
    kind: 'export',
    name: 'made.csv',
    created_by: adminEmail,
  }
  await announceFile(store.system, { ...made, expires_at: new Date(Date.now() - 1000) })
  await storage.write(`${orgId}/made.csv`, body('x'))
  await expireIn(old, '-1 second')
  await expireIn(fresh, '1 hour')
  await sweep()
  expect(await known()).toContain(fresh)
  expect(await known()).not.toContain(old)
  expect(await known()).not.toContain('made.csv')
  const sizes = [old, 'made.csv', fresh].map((ref) => storage.size(`${orgId}/${ref}`))
  expect(await Promise.all(sizes)).toEqual([null, null, 4])
})

it('a failed removal is retried', async () => {
  const { file_ref } = await put('stuck.csv')
  await expireIn(file_ref, '-1 second')
  const broken = {
    ...storage,
    remove: async () => {
      throw new Error('the store is not reachable')
    },
  }
  await expect(sweep(broken)).rejects.toThrow('the store is not reachable')
  expect(await known()).toContain(file_ref)
  await sweep()
  expect(await known()).not.toContain(file_ref)
})

it('an upload that broke off cannot be imported and is swept after a day', async () => {
  const before = await known()
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('a\n')
    throw new Error('the line went dead')
  }
  const upload = { orgId, name: 'half.csv', createdBy: adminEmail }
  await expect(storeUpload({ db: store.system, storage }, upload, broken())).rejects.toThrow(
    'the line went dead',
  )
  const half = (await known()).find((ref) => !before.includes(ref)) ?? ''
  const { rows } = await sql<{ size_bytes: number | null; days: number }>`
    select size_bytes, extract(epoch from expires_at - created_at) / 86400 as days
    from files where file_ref = ${half}`.execute(store.system)
  expect([rows[0]?.size_bytes, Math.round(Number(rows[0]?.days))]).toEqual([null, 1])
})

it('imports that ended more than 24 hours ago are deleted', async () => {
  const { rows } = await sql<{ count: number }>`
    with gone as (insert into workflows (org_id, workflow_id, name) values (${orgId}, ${orgId}, 'w') returning workflow_id),
    sheet as (insert into sheets (org_id, sheet_id, workflow_id, name, position) select ${orgId}, workflow_id, workflow_id, 's', 0 from gone returning sheet_id)
    insert into imports (org_id, import_id, sheet_id, file_ref, mapping, run_after, status, created_by, finished_at)
    select ${orgId}, gen_random_uuid(), sheet_id, 'x.csv', '[]', 'none', 'completed', 'a', now() - age * interval '1 hour'
    from sheet, unnest(array[1, 23, 25, 100]) age returning 1 as count`.execute(store.system)
  expect(rows).toHaveLength(4)
  await sweep()
  expect(await store.system.selectFrom('imports').selectAll().execute()).toHaveLength(2)
})
