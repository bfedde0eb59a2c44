import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openStorage } from '#server/files/storage/open-storage.ts'
import { makeRowSheet } from '#test/builders/rows.ts'
import { makeApp, testConfig } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'
import { runLoam } from '../testing/loam.ts'

const folder = mkdtempSync(join(tmpdir(), 'loam-file-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const storage = openStorage(testConfig({ LOAM_DATA_DIR: folder }))
const app = await makeApp({ services: { storage } })
const org = await app.makeOrg('Acme')

const ENV = {
  DATABASE_URL: app.databaseUrl,
  LOAM_SECRET: 'a secret for tests only',
  LOAM_DATA_DIR: folder,
}
const path = (name: string, content = 'Name\nAcme\n') => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const put = async (...args: string[]) => {
  const { exit, stdout, stderr } = await runLoam(['file', 'put', ...args, '--json'], ENV)
  return { exit, ...JSON.parse(exit === 0 ? stdout : stderr) }
}

it('D57: file put prints file_ref and size_bytes, and the file can be imported', async () => {
  const put1 = await put(path('leads.csv'))
  expect(put1).toEqual({ exit: 0, file_ref: expect.stringMatching(/^[0-9A-Za-z]{32}\.csv$/), size_bytes: 10 })
  await startTestWorker(app)
  const base = await makeRowSheet(org)
  const body = { file_ref: put1.file_ref, mapping: { Name: 'Company' } }
  expect((await org.call('POST', `${base}/csv`, body)).status).toBe(202)
  const status = async () => (await org.call('GET', `${base}/csv`)).body.data
  await expect.poll(status).toEqual({ status: 'completed', rows_imported: 1 })
})

it('names the organisation for which it stored the file', async () => {
  const { exit, stdout } = await runLoam(['file', 'put', path('b.xlsx'), '--email', org.adminEmail], ENV)
  expect([exit, stdout]).toEqual([
    0,
    expect.stringMatching(/^Stored b.xlsx for Acme\n  file_ref    \w{32}\.xlsx\n  size_bytes  10\n$/),
  ])
  const row = app.store.system.selectFrom('files').select(['name', 'created_by']).where('name', '=', 'b.xlsx')
  expect(await row.execute()).toEqual([{ name: 'b.xlsx', created_by: org.adminEmail }])
})

it.each([
  ['another extension', () => path('leads.txt'), 'path: must be a file whose name ends in .csv or .xlsx'],
  ['a file that does not exist', () => join(folder, 'gone.csv'), 'gone.csv does not exist'],
  ['a folder', () => (mkdirSync(join(folder, 'd.csv')), join(folder, 'd.csv')), 'd.csv is not a file'],
])('%s is bad input', async (_what, name, message) => {
  const answer = await put(name())
  expect([answer.exit, JSON.stringify(answer)]).toEqual([
    2,
    expect.stringContaining(message.replace('path: ', '')),
  ])
})

it('an unknown member is not found', async () => {
  expect(await put(path('leads.csv'), '--email', 'nobody@example.com')).toMatchObject({ exit: 3 })
})
