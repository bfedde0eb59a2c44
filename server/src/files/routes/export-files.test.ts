import { describe, expect, it } from 'vitest'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'
import { exportsOf } from '../../api/testing/exports.ts'
import { exportLinks } from './export-files.ts'

const app = await makeApp({ services: { catalogue: catalogueOf() } })
await startTestWorker(app)
const org = await app.makeOrg()
const { addRows, makeSheet } = rowsOf(org)
const { download, finish } = exportsOf(app, org)
const origin = await app.api.listen({ port: 0, host: '127.0.0.1' })

const base = await makeSheet(['a'])
await addRows(base, [{ a: '1' }, { a: '2' }])
const TEXT = 'a\r\n1\r\n2\r\n'
const { record } = await finish(base)
const token: string = record.file_url.split('/').at(-1)

describe('D10: `/files/<signed>` needs no key', () => {
  it('the file is a download that is not cached and whose type is not sniffed', async () => {
    const answer = await fetch(`${origin}/files/${token}`)
    expect([answer.status, await answer.text()]).toEqual([200, TEXT])
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-length': String(TEXT.length),
      'content-disposition': `attachment; filename="export.csv"; filename*=UTF-8''export.csv`,
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
    })
  })

  it('HEAD answers the same without the file (D8)', async () => {
    const answer = await fetch(`${origin}/files/${token}`, { method: 'HEAD' })
    expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([
      200,
      String(TEXT.length),
      '',
    ])
    expect(answer.headers.get('content-disposition')).toContain('export.csv')
  })

  it.each([
    ['bytes=0-2', 206, 'a\r\n', 'bytes 0-2/9'],
    ['bytes=3-', 206, '1\r\n2\r\n', 'bytes 3-8/9'],
    ['bytes=-3', 206, '2\r\n', 'bytes 6-8/9'],
    ['bytes=0-999', 206, TEXT, 'bytes 0-8/9'],
    ['bytes=-999', 206, TEXT, 'bytes 0-8/9'],
    ['bytes=2-1', 200, TEXT, null],
    ['bytes=0-1,3-4', 200, TEXT, null],
    ['lines=0-1', 200, TEXT, null],
  ])('Range %s', async (range, status, text, contentRange) => {
    const answer = await fetch(`${origin}/files/${token}`, { headers: { range } })
    expect([answer.status, await answer.text(), answer.headers.get('content-range')]).toEqual([
      status,
      text,
      contentRange,
    ])
    expect(answer.headers.get('content-length')).toBe(String(text.length))
  })

  it('a range past the end is 416; one for another version of the file gets the whole file', async () => {
    const past = await download(record.file_url, { range: 'bytes=9-' })
    expect([past.status, past.headers['content-range'], JSON.parse(past.bytes.toString())]).toEqual([
      416,
      'bytes */9',
      { status: 416, error: 'Range Not Satisfiable', message: 'The file has 9 bytes' },
    ])
    const { etag } = (await download(record.file_url)).headers
    expect((await download(record.file_url, { range: 'bytes=0-0', 'if-range': String(etag) })).status).toBe(
      206,
    )
    expect((await download(record.file_url, { range: 'bytes=0-0', 'if-range': '"other"' })).status).toBe(200)
  })
})

describe('signed URLs refuse every altered bit', () => {
  it('every character, replaced by every other', async () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const links = exportLinks(app.services.sealer)
    const accepted = Array.from(token, (character, at) =>
      Array.from(alphabet).filter(
        (other) =>
          other !== character && links.read(token.slice(0, at) + other + token.slice(at + 1)) !== null,
      ),
    ).flat()
    expect([token.length, accepted]).toEqual([96, []])
  })

  it('over HTTP: each character changed is 403 in the error envelope', async () => {
    const answers = await Promise.all(
      Array.from(token, (character, at) =>
        download(`/files/${token.slice(0, at)}${character === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`),
      ),
    )
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([403]))
    expect(JSON.parse(answers[0]?.bytes.toString() ?? '')).toEqual({
      status: 403,
      error: 'Forbidden',
      message: 'This link is invalid or has expired. Get Export returns a new one',
    })
    for (const path of ['/files/x', `/files/${token}A`, `/files/${token.slice(1)}`]) {
      expect((await download(path)).status).toBe(403)
    }
  })

  it('an expired link is refused, to the millisecond; one for a missing file is 404', async () => {
    const sign = (expiresAt: Date, fileId: string = record.export_id) =>
      `/files/${exportLinks(app.services.sealer).sign({ orgId: org.orgId, fileId, expiresAt })}`
    expect((await download(sign(new Date(Date.now() + 60_000)))).status).toBe(200)
    expect((await download(sign(new Date(Date.now() - 1)))).status).toBe(403)
    const elsewhere = '01900000-0000-7000-8000-000000000000'
    expect((await download(sign(new Date(Date.now() + 60_000), elsewhere))).status).toBe(404)
  })

  it('a link does not outlive its sheet', async () => {
    const gone = await makeSheet(['a'])
    const { record: last } = await finish(gone)
    await org.call('DELETE', `/workflows/${gone.split('/')[2]}`)
    expect((await download(last.file_url)).status).toBe(404)
  })
})
