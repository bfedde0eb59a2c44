import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, describe, expect, it } from 'vitest'
import { storeUpload } from '#server/files/uploads.ts'
import { makeRowSheet, rowsOf } from '#test/builders/rows.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'
import { readConfig } from '../../lib/config/config.ts'
import { openStorage } from '../storage/open-storage.ts'
import type { Storage } from '../storage/storage.ts'
import { makeWorkbook, textRow } from '../testing/workbook.ts'

const folder = mkdtempSync(join(tmpdir(), 'loam-bombs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const disk = openStorage(readConfig({ LOAM_DATA_DIR: folder }))
let bytesRead = 0
/** Counts the bytes read from files. */
const storage: Storage = {
  ...disk,
  async read(key, range) {
    const body = await disk.read(key, range)
    if (body === null) return null
    const counted = async function* () {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        bytesRead += chunk.length
        yield chunk
      }
    }
    return Readable.from(counted())
  },
}
const app = await makeApp({ services: { storage } })
const org = await app.makeOrg()
await startTestWorker(app)
const { list } = rowsOf(org)

const MB = 1024 * 1024
const LINE_BYTES = 64 * MB
/** Yields a file of one repeated piece, never held in memory as a whole. */
function* repeat(head: string, piece: string): Generator<Buffer> {
  yield Buffer.from(head)
  const bytes = Buffer.from(piece)
  for (let sent = 0; sent < LINE_BYTES; sent += bytes.length) yield bytes
}
const sheet = (content: string | Buffer, claims = {}) =>
  makeWorkbook({ parts: [{ name: 'xl/worksheets/sheet1.xml', content, claims }] })
const zeros = Buffer.alloc(64 * MB)
const entities = Array.from({ length: 10 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`).join(
  '',
)
const laughs = `<!DOCTYPE x [<!ENTITY e0 "ha">${entities}]><worksheet><sheetData>${textRow(1, '&e10;')}</sheetData></worksheet>`

type Bomb = [what: string, name: string, content: () => Iterable<Buffer>, message: RegExp]
const BOMBS: Bomb[] = [
  ['a worksheet of zeros', 'a.xlsx', () => [sheet(zeros)], /refused: its part .* unpacks to 64 MB or more$/],
  ['one that lies about its size', 'b.xlsx', () => [sheet(zeros, { size: 1000 })], /refused: its part/],
  ['entities that multiply', 'c.xlsx', () => [sheet(laughs)], /its XML declares a document type$/],
  ['an endless tag', 'd.xlsx', () => [sheet(`<worksheet ${'a="b" '.repeat(800_000)}`)], /an endless tag$/],
  ['an endless line', 'e.csv', () => repeat('Name,Web\na,b\n', 'x'.repeat(MB)), /line 3 is longer than 2 MB/],
  ['an endless header', 'f.csv', () => repeat('', 'x,'.repeat(MB / 2)), /longer than 2 MB/],
  [
    'a quote without end',
    'g.csv',
    () => repeat('Name,Web\na,"', 'b\n'.repeat(MB / 2)),
    /quote in it not closed/,
  ],
]

async function importFile(name: string, content: Iterable<Buffer>) {
  const base = await makeRowSheet(org)
  const upload = { orgId: org.orgId, name, createdBy: org.adminEmail }
  const stored = await storeUpload({ db: app.store.system, storage }, upload, Readable.from(content))
  const body = { file_ref: stored.file_ref, mapping: { Name: 'Company', Web: 'domain' } }
  const answer = await org.call('POST', `${base}/csv`, body)
  expect([answer.status, answer.body.errors]).toEqual([202, undefined])
  const look = async () => (await org.call('GET', `${base}/csv`)).body.data
  await expect.poll(async () => (await look()).status).not.toBe('processing')
  return { base, ending: await look() }
}

describe('Import CSV of a malicious file', () => {
  it.each(BOMBS)('%s fails with what is wrong, and adds no row', async (_what, name, content, message) => {
    bytesRead = 0
    const { base, ending } = await importFile(name, content())
    expect(ending).toMatchObject({ status: 'failed', error: expect.stringMatching(message) })
    expect((await list(base)).total_count).toBe(0)
    // An endless record is read no further than the longest allowed record.
    if (name.endsWith('.csv')) expect(bytesRead).toBeLessThan(LINE_BYTES / 4)
  })

  it('and the next file is imported', async () => {
    const { ending } = await importFile('good.csv', [Buffer.from('Name,Web\nAcme,acme.example\n')])
    expect(ending).toEqual({ status: 'completed', rows_imported: 1 })
  })
})
