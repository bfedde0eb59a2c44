import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { makeRowSheet } from '#test/builders/rows.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'
import { importing, MAPPING, CSV } from '../testing/imports.ts'

const app = await makeApp()
const org = await app.makeOrg()
await startTestWorker(app)
/** An app without workers: queued jobs stay queued. */
const idle = await makeApp()
const { put, ended } = importing(app, org)

describe('400 lists every failure', () => {
  let base = ''
  let file_ref = ''
  beforeAll(async () => {
    base = await makeRowSheet(org)
    file_ref = await put(CSV)
  })
  const BARE = 'must be the bare key of a file: no URL, no path, no `..`'
  const NAME = 'must be the name of a .csv or .xlsx file'

  it.each([
    ['a URL', 'https://files.example/a.csv', [BARE]],
    ['a path', 'org/a.csv', [BARE]],
    ['a path out of its folder', '..a.csv', [BARE]],
    ['another extension', 'a.ods', [NAME]],
    ['an old workbook', 'a.xls', [expect.stringContaining('old .xls workbooks cannot be read')]],
    ['no extension', 'acsv', [NAME]],
    ['a path with another extension', '../a.txt', [BARE, NAME]],
    ['a name with a NUL', 'a\0.csv', [BARE]],
    ['a number', 7, [expect.any(String)]],
  ])('file_ref is %s', async (_what, ref, messages) => {
    const { status, body } = await org.call('POST', `${base}/csv`, { file_ref: ref, mapping: MAPPING })
    expect([status, body.errors]).toEqual([400, messages.map((message) => ({ field: 'file_ref', message }))])
  })

  it.each([
    ['mapping: {} (D61)', { mapping: {} }, [{ field: 'mapping', message: 'must map at least one column' }]],
    ['no mapping', { mapping: undefined }, [{ field: 'mapping', message: 'required' }]],
    [
      'an unknown input (D61)',
      { mapping: { Name: 'company' } },
      [{ field: 'mapping.Name', message: 'the sheet has no input named "company"; did you mean Company?' }],
    ],
    [
      'spaces around an input',
      { mapping: { Name: ' Company' } },
      [{ field: 'mapping.Name', message: 'the sheet has no input named " Company"; did you mean Company?' }],
    ],
    [
      'two columns for one field',
      { mapping: { Name: 'domain', Web: 'domain' } },
      [{ field: 'mapping.Web', message: 'the column "Name" is already mapped to the input "domain"' }],
    ],
    [
      'a target that is no text',
      { mapping: { Name: 1 } },
      [{ field: 'mapping.Name', message: expect.any(String) }],
    ],
    [
      'a header that no text can be',
      { mapping: { 'a\0b': 'Company' } },
      [{ field: 'mapping.a\0b', message: 'must be well-formed text without NUL' }],
    ],
    [
      'a worksheet that no text can be',
      { sheet_name: '\ud800' },
      [{ field: 'sheet_name', message: 'must be well-formed text without NUL' }],
    ],
    [
      'another word for run_after_import',
      { run_after_import: 'some' },
      [{ field: 'run_after_import', message: 'must be one of: none, first_10, all' }],
    ],
    [
      'several at once',
      { file_ref: 'a/b.txt', mapping: { Name: 'nope' }, sheet_name: 1 },
      [
        { field: 'file_ref', message: BARE },
        { field: 'file_ref', message: NAME },
        { field: 'sheet_name', message: expect.any(String) },
        { field: 'mapping.Name', message: 'the sheet has no input named "nope"' },
      ],
    ],
  ])('%s', async (_what, change, errors) => {
    const { status, body } = await org.call('POST', `${base}/csv`, { file_ref, mapping: MAPPING, ...change })
    expect([status, body.errors]).toEqual([400, errors])
    expect(body.message).toBe(`${errors.length} validation errors`)
  })

  it('D61: an own file_ref that does not exist, beside what else is wrong', async () => {
    const { status, body } = await org.call('POST', `${base}/csv`, {
      file_ref: 'gone.csv',
      mapping: { Name: 'nope' },
    })
    expect([status, body.errors.map((error: Json) => error.field)]).toEqual([
      400,
      ['file_ref', 'mapping.Name'],
    ])
  })

  it('a file that has expired, even when it has not been removed yet', async () => {
    const old = await put(CSV)
    await sql`update files set expires_at = now() where file_ref = ${old}`.execute(app.store.system)
    const { status } = await org.call('POST', `${base}/csv`, { file_ref: old, mapping: MAPPING })
    expect(status).toBe(400)
  })

  it('an unknown field is a warning', async () => {
    const answer = await org.call('POST', `${base}/csv`, { file_ref, mapping: MAPPING, extra: 1 })
    expect([answer.status, answer.body.warnings]).toMatchObject([
      202,
      [{ field: 'extra', code: 'unknown_field' }],
    ])
    await ended(base)
  })
})

describe('access', () => {
  it('D7: a key of another organisation is 403', async () => {
    const other = await app.makeOrg()
    const base = await makeRowSheet(org)
    const file_ref = await put(CSV, 'leads.csv', other)
    const answer = await org.call('POST', `${base}/csv`, { file_ref, mapping: MAPPING })
    expect([answer.status, answer.body.error]).toEqual([403, 'Forbidden'])
    expect((await org.call('GET', `${base}/csv`)).body.data).toEqual({ status: 'unknown', rows_imported: 0 })
  })

  it('D12: workflows:data:write, and workflows:run when it asks to run; the status workflows:data:read', async () => {
    const base = await makeRowSheet(org)
    const file_ref = await put(CSV)
    const writer = await org.keyFor(org.adminEmail, 'admin', { scopes: ['workflows:data:write'] })
    const reader = await org.keyFor(org.adminEmail, 'admin', {
      scopes: ['workflows:data:read', 'workflows:run'],
    })
    const start = (key: string, run_after_import: string) =>
      app.call(key, 'POST', `${base}/csv`, { file_ref, mapping: MAPPING, run_after_import })
    expect((await start(reader, 'none')).status).toBe(403)
    expect((await start(writer, 'all')).body.error).toBe('INSUFFICIENT_SCOPE')
    expect((await app.call(writer, 'GET', `${base}/csv`)).status).toBe(403)
    expect((await start(writer, 'none')).status).toBe(202)
    expect((await app.call(reader, 'GET', `${base}/csv`)).status).toBe(200)
    await ended(base)
  })

  it('D6: a second import while one is processing is 409; on another sheet it is not', async () => {
    const caller = await idle.makeOrg()
    const [base, other] = [await makeRowSheet(caller), await makeRowSheet(caller)]
    const file_ref = await put(CSV, 'leads.csv', caller, idle)
    const start = (path: string) => caller.call('POST', `${path}/csv`, { file_ref, mapping: MAPPING })
    const all = await Promise.all([start(base), start(base), start(base)])
    expect(all.map((answer) => answer.status).sort((a, b) => a - b)).toEqual([202, 409, 409])
    const status = (await caller.call('GET', `${base}/csv`)).body.data
    expect(status).toEqual({ status: 'processing', rows_imported: 0 })
    expect((await start(other)).status).toBe(202)
    await sql`update imports set status = 'completed', finished_at = now()`.execute(idle.store.system)
    expect((await start(base)).status).toBe(202)
  })
})
