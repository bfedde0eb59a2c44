import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { storeUpload } from '#server/files/uploads.ts'
import { makeRowSheet, rowsOf } from '#test/builders/rows.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { makeWorkbook, textRow } from '../testing/workbook.ts'

const app = await makeApp()
const org = await app.makeOrg()
await startTestWorker(app)
/** An app without workers: queued jobs stay queued. */
const idle = await makeApp()
const { list } = rowsOf(org)

const MAPPING = { Name: 'Company', Web: 'domain' }
const CSV = 'Name,Web\nAcme,acme.example\nGlobex,globex.example\n'

/** Uploads a file as `loam file put` does. */
async function put(content: string | Buffer, name = 'leads.csv', owner = org, at = app): Promise<string> {
  const body = (async function* () {
    yield Buffer.from(content)
  })()
  const upload = { orgId: owner.orgId, name, createdBy: owner.adminEmail }
  return (await storeUpload({ db: at.store.system, storage: at.services.storage }, upload, body)).file_ref
}

async function ended(base: string): Promise<Json> {
  for (const deadline = Date.now() + 50_000; ;) {
    const { body } = await org.call('GET', `${base}/csv`)
    if (body.data.status !== 'processing') return body.data
    if (Date.now() > deadline) throw new Error(`still processing: ${JSON.stringify(body.data)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Imports a file into a new sheet and returns the result. */
async function importInto(base: string, content: string | Buffer, body: object = {}, name?: string) {
  const file_ref = await put(content, name)
  const answer = await org.call('POST', `${base}/csv`, { file_ref, mapping: MAPPING, ...body })
  expect([answer.status, answer.body.errors]).toEqual([202, undefined])
  return ended(base)
}

const manyRows = (count: number) =>
  `Name,Web\n${Array.from({ length: count }, (_, n) => `Company ${n},c${n}.example\n`).join('')}`

describe('Import CSV', () => {
  it('answers 202 with processing, the sheet and the columns mapped; the status then says completed', async () => {
    const base = await makeRowSheet(org)
    const answer = await org.call('POST', `${base}/csv`, { file_ref: await put(CSV), mapping: MAPPING })
    expect([answer.status, answer.body]).toEqual([
      202,
      { status: 202, data: { status: 'processing', sheet_id: base.slice(-36), columns_mapped: 2 } },
    ])
    expect(await ended(base)).toEqual({ status: 'completed', rows_imported: 2 })
    const { rows, total_count } = await list(base)
    expect(total_count).toBe(2)
    expect(rows.map((row: Json) => row.inputs)).toEqual([
      { Company: 'Acme', domain: 'acme.example', employees: null },
      { Company: 'Globex', domain: 'globex.example', employees: null },
    ])
    expect(rows[0]).toMatchObject({ row_status: 'pending', cells: {} })
  })

  it('reads an XLSX file, by default its first worksheet', async () => {
    const book = makeWorkbook({
      rows: textRow(1, 'Name', 'Web') + textRow(2, 'First', '1'),
      others: { Other: textRow(1, 'Name', 'Web') + textRow(2, 'Second', '2') },
    })
    const base = await makeRowSheet(org)
    expect(await importInto(base, book, {}, 'Leads.XLSX')).toEqual({ status: 'completed', rows_imported: 1 })
    expect(await importInto(base, book, { sheet_name: 'Other' }, 'b.xlsx')).toMatchObject({
      status: 'completed',
    })
    const { rows } = await list(base)
    expect(rows.map((row: Json) => row.inputs.Company)).toEqual(['First', 'Second'])
  })

  it('omitted columns are not imported, missing and empty cells are null, NUL is replaced (D28)', async () => {
    const base = await makeRowSheet(org)
    await importInto(base, 'Web,Other,Name\nx.example,secret,\n,,A\0B\nshort\n')
    const { rows } = await list(base)
    expect(rows.map((row: Json) => row.inputs)).toEqual([
      { Company: null, domain: 'x.example', employees: null },
      { Company: 'A\uFFFDB', domain: null, employees: null },
      { Company: null, domain: 'short', employees: null },
    ])
    const empty = { filters: [{ variable: '{{input.Company}}', operator: 'is empty' }] }
    expect((await list(base, empty)).total_count).toBe(2)
  })

  it('D61: a file_ref can be imported several times; sheet_name with a CSV is ignored', async () => {
    const base = await makeRowSheet(org)
    const file_ref = await put(CSV)
    for (const rows of [2, 4]) {
      const answer = await org.call('POST', `${base}/csv`, { file_ref, mapping: MAPPING, sheet_name: 'Any' })
      expect(answer.status).toBe(202)
      expect(await ended(base)).toEqual({ status: 'completed', rows_imported: 2 })
      expect((await list(base)).total_count).toBe(rows)
    }
  })

  it('imports many chunks in the order of the file', async () => {
    const base = await makeRowSheet(org)
    expect(await importInto(base, manyRows(12_000))).toEqual({ status: 'completed', rows_imported: 12_000 })
    const { rows, total_count } = await list(base, { page_no: 60, page_size: 200 })
    expect([total_count, rows[0].inputs.Company, rows[199].inputs.Company]).toEqual([
      12_000,
      'Company 11800',
      'Company 11999',
    ])
  })

  it('D79: values that do not fit their input are imported and counted in the warnings of the status', async () => {
    const base = await makeRowSheet(org)
    await org.call('POST', `${base}/inputs`, [{ name: 'Staff', type: 'number' }])
    const rows = Array.from({ length: 6000 }, (_, n) => `Acme ${n},${n % 1000 === 7 ? 'many' : n}\n`)
    const mapping = { Name: 'Company', Staff: 'Staff' }
    expect(await importInto(base, `Name,Staff\n${rows.join('')}`, { mapping })).toEqual({
      status: 'completed',
      rows_imported: 6000,
    })
    expect((await org.call('GET', `${base}/csv`)).body.warnings).toEqual([
      {
        field: 'rows[7].Staff',
        code: 'type_mismatch',
        message:
          '6 values are no number (rows[7], rows[1007], rows[2007], rows[3007], rows[4007], and 1 more); stored as given',
      },
    ])
    expect((await list(base, { page_size: 8 })).rows[7].inputs.Staff).toBe('many')
    await importInto(base, CSV)
    expect((await org.call('GET', `${base}/csv`)).body).not.toHaveProperty('warnings')
  })

  it('D28: so are values that had to be changed to be stored', async () => {
    const base = await makeRowSheet(org)
    const rows = Array.from({ length: 6000 }, (_, n) => `Acme${n % 1000 === 7 ? '\0' : ' '}${n}\n`)
    await importInto(base, `Name\n${rows.join('')}`, { mapping: { Name: 'Company' } })
    expect((await org.call('GET', `${base}/csv`)).body.warnings).toEqual([
      {
        field: 'rows[7].Company',
        code: 'value_normalized',
        message:
          'NUL characters and halves of surrogate pairs were replaced by U+FFFD in 6 values (rows[7], rows[1007], rows[2007], rows[3007], rows[4007], and 1 more)',
      },
    ])
    expect((await list(base, { page_size: 8 })).rows[7].inputs.Company).toBe('Acme\uFFFD7')
  })

  it('only a header is an import of 0 rows', async () => {
    expect(await importInto(await makeRowSheet(org), 'Name,Web\n')).toEqual({
      status: 'completed',
      rows_imported: 0,
    })
  })
})

describe('a failed import says why and leaves no rows', () => {
  const book = makeWorkbook({ rows: textRow(1, 'Name', 'Web') })
  it.each([
    [
      'a named header that is absent',
      'Name,Site\n',
      'Row 1 has no header "Web"; its headers are "Name", "Site"',
    ],
    [
      'a quote that is not closed',
      'Name,Web\nA,b\n"C,d\n',
      'The quote that opens a field in line 3 is never closed',
    ],
    [
      'bytes that are not UTF-8',
      Buffer.from('Name,Web\nZo\xeb,x\n', 'latin1'),
      'Line 2 holds bytes that are not UTF-8; save the file as UTF-8 and put it again',
    ],
    ['an empty file', '', 'Row 1 has no header "Name", "Web"; it is empty'],
    [
      'a fault behind many good rows',
      `${manyRows(7000)}"never closed`,
      'The quote that opens a field in line 7002 is never closed',
    ],
    [
      'a value that Add Rows would reject',
      `Name,Web\nA,b\nC,${'x'.repeat(2_090_000)}\nD,e\n`,
      'The value of "Web" in line 3 is longer than 1 MB',
    ],
    [
      'a record that is too long, as the last of its block',
      `Name,Web\nA,b\nC,${'x'.repeat(2_100_000)}\n`,
      'The record that starts in line 3 is longer than 2 MB',
    ],
  ])('%s', async (_what, content, error) => {
    const base = await makeRowSheet(org)
    expect(await importInto(base, content)).toEqual({ status: 'failed', rows_imported: 0, error })
    expect((await list(base)).total_count).toBe(0)
    expect(await importInto(base, CSV)).toEqual({ status: 'completed', rows_imported: 2 })
  })

  it.each([
    [
      'a missing worksheet',
      book,
      { sheet_name: 'Q3' },
      'The workbook has no worksheet "Q3"; its worksheets are "Data"',
    ],
    [
      'headers in row 3, below empty ones',
      makeWorkbook({ rows: textRow(3, 'Name', 'Web') + textRow(4, 'A', 'b') }),
      {},
      'Row 1 has no header "Name", "Web"; it is empty',
    ],
    [
      'no workbook',
      Buffer.from('Name,Web\n'),
      {},
      'The file is not an XLSX workbook (no zip archive); save it as .xlsx and upload it again',
    ],
  ])('%s', async (_what, content, body, error) => {
    const base = await makeRowSheet(org)
    expect(await importInto(base, content, body, 'x.xlsx')).toEqual({
      status: 'failed',
      rows_imported: 0,
      error,
    })
  })

  it('a file that is missing in the storage', async () => {
    const base = await makeRowSheet(org)
    const file_ref = await put(CSV)
    await app.services.storage.remove(`${org.orgId}/${file_ref}`)
    await org.call('POST', `${base}/csv`, { file_ref, mapping: MAPPING })
    const error = `The file ${file_ref} no longer exists; upload it again`
    expect(await ended(base)).toEqual({ status: 'failed', rows_imported: 0, error })
  })

  it('an error text that PostgreSQL cannot store', async () => {
    const base = await makeRowSheet(org)
    expect(await importInto(base, 'A\0B\n')).toMatchObject({ error: expect.stringContaining('"A\uFFFDB"') })
  })
})

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

describe('CSV import status', () => {
  it('is unknown where nothing was imported, and 24 hours after the end (D41)', async () => {
    const base = await makeRowSheet(org)
    const unknown = { status: 'unknown', rows_imported: 0 }
    expect((await org.call('GET', `${base}/csv`)).body).toEqual({ status: 200, data: unknown })
    await importInto(base, CSV)
    const age = (hours: number) =>
      sql`update imports set finished_at = now() - ${hours} * interval '1 hour' where sheet_id = ${base.slice(-36)}`.execute(
        app.store.system,
      )
    await age(23.9)
    expect((await org.call('GET', `${base}/csv`)).body.data.status).toBe('completed')
    await age(24.1)
    expect((await org.call('GET', `${base}/csv`)).body.data).toEqual(unknown)
  })

  it('is that of the latest import', async () => {
    const base = await makeRowSheet(org)
    await importInto(base, 'Other\n')
    expect(await importInto(base, CSV)).toEqual({ status: 'completed', rows_imported: 2 })
    expect(await importInto(base, 'Other\n')).toMatchObject({ status: 'failed' })
  })

  it('increases with each chunk', async () => {
    const base = await makeRowSheet(org)
    const file_ref = await put(manyRows(60_000))
    await org.call('POST', `${base}/csv`, { file_ref, mapping: MAPPING })
    const seen = new Set<number>()
    for (;;) {
      const { status, rows_imported } = (await org.call('GET', `${base}/csv`)).body.data
      const counted = (await list(base, { page_size: 1 })).total_count
      expect(counted).toBeGreaterThanOrEqual(rows_imported)
      seen.add(rows_imported)
      if (status === 'completed') break
    }
    expect([...seen]).toEqual([...seen].sort((a, b) => a - b))
    expect(seen.size).toBeGreaterThan(2)
    expect(seen.has(60_000)).toBe(true)
  })
})

describe('run_after_import', () => {
  async function makeChain(auto_run = false): Promise<string> {
    const base = await makeRowSheet(org)
    await org.call('POST', `${base}/actions/add`, {
      action_id: 'normalize_domain',
      inputs: { value: '{{input.domain}}' },
    })
    if (auto_run) await org.call('PATCH', base, { auto_run })
    return base
  }
  const workflow = async (base: string) => (await org.call('GET', `/workflows/${base.slice(-36)}`)).body.data
  const queuedIn = async (base: string) => {
    const { body } = await org.call('GET', `${base}/runs`)
    return body.data.map((run: Json) => [run.trigger, run.rows_queued])
  }

  it.each([
    ['none', false, [], 0],
    ['first_10', false, [['api', 10]], 10],
    ['all', false, [['api', 25]], 25],
    ['none', true, [['auto_run', 25]], 25],
    ['first_10', true, [['api', 25]], 25],
    ['all', true, [['api', 25]], 25],
  ])('%s, auto_run %s (D16, D45)', async (run_after_import, autoRun, runs, complete) => {
    const base = await makeChain(autoRun)
    expect(await importInto(base, manyRows(25), { run_after_import })).toMatchObject({ rows_imported: 25 })
    expect(await queuedIn(base)).toEqual(runs)
    const rows = await settledRows(org, base)
    expect(rows.map((row) => row.row_status)).toEqual(
      rows.map((_, n) => (n < complete ? 'complete' : 'pending')),
    )
    expect((await workflow(base)).last_run_at !== null).toBe(run_after_import !== 'none')
  })

  it('D94: on a sheet without actions it warns', async () => {
    const base = await makeRowSheet(org)
    const body = { file_ref: await put(CSV), mapping: MAPPING, run_after_import: 'all' }
    const { status, body: answer } = await org.call('POST', `${base}/csv`, body)
    expect([status, answer.warnings.map((warning: Json) => [warning.field, warning.code])]).toEqual([
      202,
      [['run_after_import', 'no_actions']],
    ])
  })

  it('all runs each row of a long file once', async () => {
    const base = await makeChain()
    await importInto(base, manyRows(9000), { run_after_import: 'all' })
    const runs: [string, number][] = await queuedIn(base)
    expect(runs.length).toBeGreaterThan(1)
    expect(runs.reduce((sum, [, queued]) => sum + queued, 0)).toBe(9000)
    await org.call('POST', `${base}/stop`)
  })

  it('first_10 of a long file queues 10', async () => {
    const base = await makeChain()
    await importInto(base, manyRows(7000), { run_after_import: 'first_10' })
    expect(await queuedIn(base)).toEqual([['api', 10]])
  })

  it('a sheet without actions takes the rows and runs none', async () => {
    const base = await makeRowSheet(org)
    expect(await importInto(base, CSV, { run_after_import: 'all' })).toMatchObject({ status: 'completed' })
    expect([await queuedIn(base), (await workflow(base)).last_run_at]).toEqual([[], null])
  })
})

it('an import into a sheet that is deleted meanwhile ends', async () => {
  const base = await makeRowSheet(org)
  const file_ref = await put(manyRows(60_000))
  await org.call('POST', `${base}/csv`, { file_ref, mapping: MAPPING })
  expect((await org.call('DELETE', `/workflows/${base.slice(-36)}`)).status).toBe(200)
  const ended = async () =>
    (
      await sql`select from imports where sheet_id = ${base.slice(-36)} and status = 'processing'`.execute(
        app.store.system,
      )
    ).rows.length === 0
  await expect.poll(ended).toBe(true)
})
