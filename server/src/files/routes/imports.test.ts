import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { makeRowSheet, rowsOf } from '#test/builders/rows.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { importing, MAPPING, CSV, manyRows } from '../testing/imports.ts'
import { makeWorkbook, textRow } from '../testing/workbook.ts'

const app = await makeApp()
const org = await app.makeOrg()
await startTestWorker(app)
const { list } = rowsOf(org)
const { put, ended, importInto } = importing(app, org)

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
          "6 values don't look like numbers (imported as they are): rows[7], rows[1007], rows[2007], rows[3007], rows[4007], and 1 more",
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
