import { expect, it } from 'vitest'
import { exportsOf } from '#server/api/testing/exports.ts'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'
import { findFile } from './store/files.ts'
import { UPLOAD, storeUpload } from './uploads.ts'

const app = await makeApp({
  settings: { LOAM_STORAGE_MB_PER_ORG: '1' },
  services: { catalogue: catalogueOf() },
})
const { storage, store } = app.services

async function* zeros(bytes: number): AsyncGenerator<Buffer> {
  for (let left = bytes; left > 0; left -= 50_000) yield Buffer.alloc(Math.min(left, 50_000), '0')
}
const put = (org: TestOrg, bytes: number) =>
  storeUpload(
    { db: store.system, storage },
    { orgId: org.orgId, name: 'rows.csv', createdBy: org.adminEmail },
    zeros(bytes),
  )
const REFUSED = {
  code: 'STORAGE_LIMIT_REACHED',
  message: expect.stringMatching(/take \d MB, and the limit is 1 MB \(LOAM_STORAGE_MB_PER_ORG\)/),
}

it('uploads of an organisation take so much together, also when they come at once (LOAM_STORAGE_MB_PER_ORG)', async () => {
  const org = await app.makeOrg()
  const ends = await Promise.allSettled([put(org, 600_000), put(org, 600_000), put(org, 600_000)])
  const stored = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))
  expect(stored).toHaveLength(1)
  for (const end of ends) if (end.status === 'rejected') expect(end.reason).toMatchObject(REFUSED)
  const file = await findFile(store.system, UPLOAD, stored[0]?.file_ref ?? '')
  expect(file?.size_bytes).toBe(600_000)
  await put(await app.makeOrg(), 600_000)
})

it('one that is too large is refused while it arrives, and leaves no bytes behind', async () => {
  const org = await app.makeOrg()
  await expect(put(org, 5_000_000)).rejects.toMatchObject(REFUSED)
  const left = await store.system
    .selectFrom('files')
    .select(['org_id', 'file_ref', 'size_bytes'])
    .where('org_id', '=', org.orgId)
    .execute()
  expect(left).toMatchObject([{ size_bytes: null }])
  for (const { org_id, file_ref } of left) expect(await storage.read(`${org_id}/${file_ref}`)).toBeNull()
})

it('an export without room fails with what to do; others continue', async () => {
  const org = await app.makeOrg()
  const { makeSheet, addRows } = rowsOf(org)
  const { start, ended } = exportsOf(app, org)
  const base = await makeSheet(['text'])
  await addRows(
    base,
    Array.from({ length: 20 }, () => ({ text: 'x'.repeat(30_000) })),
  )
  await startTestWorker(app)
  const first = await ended(base, (await start(base)).export_id)
  const second = await ended(base, (await start(base)).export_id)
  expect([first.status, second.status]).toEqual(['completed', 'failed'])
  expect(second.error).toMatch(/take 1 MB, and the limit is 1 MB \(LOAM_STORAGE_MB_PER_ORG\)/)
})
