import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { HEADERS, makeCsv } from '#test/builders/large-file.ts'
import { makeRowSheet, rowsOf } from '#test/builders/rows.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import type { Storage } from '../storage/storage.ts'
import { storeUpload } from '../uploads.ts'
import { importJob } from './import-job.ts'

const ROWS = 15_000
const app = await makeApp()
const { storage } = app.services
const org = await app.makeOrg()
const { list } = rowsOf(org)
const mapping = Object.fromEntries(HEADERS.map((name) => [name, name]))

/** Queues an import that no worker runs, and returns its job. */
async function queueImport(rows = ROWS) {
  const base = await makeRowSheet(org, HEADERS)
  const upload = { orgId: org.orgId, name: 'rows.csv', createdBy: org.adminEmail }
  const { file_ref } = await storeUpload({ db: app.store.system, storage }, upload, makeCsv(rows))
  await org.call('POST', `${base}/csv`, { file_ref, mapping })
  const { import_id } = await app.store.system
    .selectFrom('imports')
    .select('import_id')
    .where('sheet_id', '=', base.slice(-36))
    .executeTakeFirstOrThrow()
  const run = (at: Storage = storage, signal = new AbortController().signal) =>
    importJob({ ...app.services, storage: at }).run({ org_id: org.orgId, import_id }, signal)
  return { base, run, status: async () => (await org.call('GET', `${base}/csv`)).body.data }
}

const COMPLETED = { status: 'completed', rows_imported: ROWS }

it('two workers at one import write each row once', async () => {
  const { base, run, status } = await queueImport()
  const ends = await Promise.allSettled([run(), run(), run()])
  expect(ends.map((end) => end.status)).toContain('fulfilled')
  await run()
  expect(await status()).toEqual(COMPLETED)
  expect((await list(base)).total_count).toBe(ROWS)
})

it('an import that has ended is not started again', async () => {
  const { base, run } = await queueImport(3)
  await run()
  await run()
  expect((await list(base)).total_count).toBe(3)
})

it('a storage that fails midway interrupts the import, which then continues', async () => {
  const { base, run, status } = await queueImport()
  let reads = 0
  const failing: Storage = {
    ...storage,
    async read(key, range) {
      const body = await storage.read(key, range)
      reads += 1
      // The third read is the one whose rows are written; the first two only check the file.
      if (reads > 2 && body !== null) setImmediate(() => body.destroy(new Error('the line went dead')))
      return body
    },
  }
  await expect(run(failing)).rejects.toThrow('the line went dead')
  expect(await status()).toMatchObject({ status: 'processing' })
  await run()
  expect(await status()).toEqual(COMPLETED)
  expect((await list(base)).total_count).toBe(ROWS)
})

it('D28, D79: an interrupted import continues to count the values that do not fit or were changed', async () => {
  const base = await makeRowSheet(org, ['n'])
  await org.call('POST', `${base}/inputs`, [{ name: 'staff', type: 'number' }])
  const upload = { orgId: org.orgId, name: 'rows.csv', createdBy: org.adminEmail }
  const lines = Array.from(
    { length: ROWS },
    (_, n) => `${n}${n % 5000 === 4998 ? '\0' : ''},${n % 5000 === 4999 ? 'many' : 1}\n`,
  )
  const body = (async function* () {
    yield Buffer.from(`n,staff\n${lines.join('')}`)
  })()
  const { file_ref } = await storeUpload({ db: app.store.system, storage }, upload, body)
  await org.call('POST', `${base}/csv`, { file_ref, mapping: { n: 'n', staff: 'staff' } })
  const { import_id } = await app.store.system
    .selectFrom('imports')
    .select('import_id')
    .where('sheet_id', '=', base.slice(-36))
    .executeTakeFirstOrThrow()
  const run = () =>
    importJob(app.services).run({ org_id: org.orgId, import_id }, new AbortController().signal)
  await sql`
    create function refuse_late() returns trigger language plpgsql as $$
    begin
      if new.chunks > 1 then raise exception 'the line went dead'; end if;
      return new;
    end $$`.execute(app.store.system)
  await sql`create trigger late before update on imports for each row execute function refuse_late()`.execute(
    app.store.system,
  )
  await expect(run()).rejects.toThrow('the line went dead')
  await sql`drop trigger late on imports`.execute(app.store.system)
  const status = async () => (await org.call('GET', `${base}/csv`)).body
  expect(await status()).toMatchObject({
    data: { status: 'processing' },
    warnings: [
      { message: expect.stringContaining('in 1 value (rows[4998])') },
      { message: "1 value doesn't look like a number (imported as it is): rows[4999]" },
    ],
  })
  await run()
  expect(await status()).toMatchObject({
    data: COMPLETED,
    warnings: [
      { message: expect.stringContaining('in 3 values (rows[4998], rows[9998], rows[14998])') },
      {
        message:
          "3 values don't look like numbers (imported as they are): rows[4999], rows[9999], rows[14999]",
      },
    ],
  })
})

it('a process that ends releases the import', async () => {
  const { run, status } = await queueImport()
  await expect(run(storage, AbortSignal.abort(new Error('the process ends')))).rejects.toThrow(
    'the process ends',
  )
  expect(await status()).toEqual({ status: 'processing', rows_imported: 0 })
  await run()
  expect(await status()).toEqual(COMPLETED)
})

it('an import into a sheet that is deleted midway fails', async () => {
  const { base, run } = await queueImport()
  const deleting: Storage = {
    ...storage,
    async read(key, range) {
      // The third read is the one whose rows are written; the first two only check the file.
      reads += 1
      if (reads === 3) await org.call('DELETE', `/workflows/${base.slice(-36)}`)
      return storage.read(key, range)
    },
  }
  let reads = 0
  await run(deleting)
  const { rows } = await sql<{ status: string; error: string }>`
    select status, error from imports where sheet_id = ${base.slice(-36)}`.execute(app.store.system)
  expect(rows).toEqual([{ status: 'failed', error: 'The sheet was deleted' }])
})

it('an import that makes no progress fails, and the sheet is free for another', async () => {
  const { base, run, status } = await queueImport(3)
  await sql`update imports set starts = 8 where sheet_id = ${base.slice(-36)}`.execute(app.store.system)
  await run()
  expect(await status()).toEqual({
    status: 'failed',
    rows_imported: 0,
    error: expect.stringContaining('failed after several attempts'),
  })
})

it('an import extends the life of its file', async () => {
  const { base, run } = await queueImport(3)
  const file = () =>
    sql<{ used: boolean; days: number }>`select used_at is not null as used,
      round(extract(epoch from expires_at - now()) / 86400)::int as days
      from files where file_ref = (select file_ref from imports where sheet_id = ${base.slice(-36)})`.execute(
      app.store.system,
    )
  await sql`update files set expires_at = now() + interval '1 hour', used_at = null`.execute(app.store.system)
  await run()
  expect((await file()).rows).toEqual([{ used: true, days: 7 }])
})
