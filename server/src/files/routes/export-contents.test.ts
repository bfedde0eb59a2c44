import { read } from 'hucre'
import { describe, expect, it } from 'vitest'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { targets } from '#test/plumbing/databases.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { echo, exportsOf, splitLines } from '../../api/testing/exports.ts'

// Uses the oldest supported PostgreSQL, because PostgreSQL writes the lines. Other tests use the newest.
const target = targets().at(-1)
const app = await makeApp({
  services: { catalogue: catalogueOf(echo) },
  ...(target === undefined ? {} : { target }),
})
await startTestWorker(app)
const org = await app.makeOrg()
const { addRows, makeSheet } = rowsOf(org)
const { csv, jsonl, finish, ended, start } = exportsOf(app, org)

async function addEcho(base: string, json: string, name?: string): Promise<void> {
  const answer = await org.call('POST', `${base}/actions/add`, {
    action_id: 'echo',
    inputs: { json },
    ...(name === undefined ? {} : { name }),
  })
  expect(answer.status).toBe(201)
}

async function run(base: string): Promise<void> {
  expect((await org.call('POST', `${base}/run-all`)).status).toBe(200)
  await settledRows(org, base)
}

const heard = (value: unknown) => JSON.stringify({ heard: value })

describe('D61: headers are the input names, then `<display name>: <output>` for each action output', () => {
  it('in the order of inputs and of the chain; structured values are JSON, a failed cell is empty', async () => {
    const base = await makeSheet(['Company', 'said'])
    await addEcho(base, '{{input.said}}')
    await addEcho(base, '{"said":"second"}', 'Second')
    await org.call('PATCH', `${base}/actions/echo_1`, { continue_workflow_if_action_fails: true })
    await addRows(base, [
      { Company: 'Loam', said: '{"said":"hi","heard":{"b":[1,2.50,"x"],"a":null}}' },
      { Company: 'Mud', said: '' },
    ])
    await run(base)
    expect(await csv(base)).toEqual([
      ['Company', 'said', 'Echo: said', 'Echo: heard', 'Second: said', 'Second: heard'],
      [
        'Loam',
        '{"said":"hi","heard":{"b":[1,2.50,"x"],"a":null}}',
        'hi',
        '{"a": null, "b": [1, 2.5, "x"]}',
        'second',
        '',
      ],
      ['Mud', '', '', '', 'second', ''],
    ])
  })

  it('outputs that only runs show are columns too, whichever row has them', async () => {
    const base = await makeSheet(['said'])
    await addEcho(base, '{{input.said}}')
    await addRows(base, [
      { said: '{"zip":"8001","said":"a"}' },
      { said: '{"city":"Zürich"}' },
      { said: '{"error":"none"}' },
    ])
    await run(base)
    const [headers, ...rows] = await csv(base)
    expect(headers).toEqual(['said', 'Echo: said', 'Echo: heard', 'Echo: city', 'Echo: error', 'Echo: zip'])
    expect(rows.map((row) => row.slice(1))).toEqual([
      ['a', '', '', '', '8001'],
      ['', '', 'Zürich', '', ''],
      ['', '', '', 'none', ''],
    ])
  })

  it('a repeated header gets a number', async () => {
    const base = await makeSheet(['Echo: said', 'name'])
    await addEcho(base, '{"said":"one"}')
    await addEcho(base, '{"said":"two"}')
    await addRows(base, [{ 'Echo: said': 'input', name: 'n' }])
    await run(base)
    const expected = {
      'Echo: said': 'input',
      name: 'n',
      'Echo: said (2)': 'one',
      'Echo: heard': null,
      'Echo: said (3)': 'two',
      'Echo: heard (2)': null,
    }
    expect(await jsonl(base)).toEqual([expected])
    expect((await csv(base))[0]).toEqual(Object.keys(expected))
  })

  it('D82: include adds how each cell ended and why it failed, in every format', async () => {
    const base = await makeSheet(['said'])
    await addEcho(base, '{{input.said}}')
    await addRows(base, [{ said: '{"said":"hi"}' }, { said: '' }])
    await run(base)
    await addRows(base, [{ said: 'new' }])
    const include = ['error', 'status']
    const [headers, ...rows] = await csv(base, { include })
    expect(headers?.slice(3)).toEqual(['Echo: status', 'Echo: error'])
    expect(rows.map((row) => row.slice(3))).toEqual([
      ['complete', ''],
      ['failed', 'nothing was said'],
      ['', ''],
    ])
    expect((await jsonl(base, { include })).map((row) => [row['Echo: status'], row['Echo: error']])).toEqual([
      ['complete', null],
      ['failed', 'nothing was said'],
      [null, null],
    ])
    const workbook = await read((await finish(base, { include, format: 'xlsx' })).bytes)
    expect(workbook.sheets[0]?.rows[2]?.slice(3)).toEqual(['failed', 'nothing was said'])
    expect((await csv(base, { include: ['status'] }))[0]?.slice(3)).toEqual(['Echo: status'])
    const refused = await org.call('POST', `${base}/export`, { include: ['colour'] })
    expect(refused.body.errors).toEqual([{ field: 'include[0]', message: 'must be one of: status, error' }])
  })

  it('a sheet without actions, without rows, without columns', async () => {
    const base = await makeSheet(['a', 'b'])
    expect((await finish(base)).bytes.toString()).toBe('a,b\r\n')
    expect((await finish(base, { format: 'jsonl' })).bytes.toString()).toBe('')
    const bare = (await org.call('POST', '/workflows', { name: 'Bare' })).body.data.workflow_id
    const { record, bytes } = await finish(`/workflows/${bare}/sheets/${bare}`, { format: 'jsonl' })
    expect([record.row_count, bytes.length]).toEqual([0, 0])
    expect((await finish(`/workflows/${bare}/sheets/${bare}`)).record.row_count).toBe(0)
  })
})

const FORMULAS = [
  '=1+1',
  '=HYPERLINK("http://evil.example","x")',
  "+cmd|' /C calc'!A0",
  '-2+3+cmd',
  '@SUM(A1:A9)',
  '＝1+1',
]
const HARMLESS = [
  '+1 555 0100',
  '+41 (0)44 123-45-67',
  '-3',
  '-3.5e-7',
  '+1,234.50',
  '-12%',
  '-',
  'a=1',
  ' =1',
  "'=1",
]

/** Texts for readers that split at semicolons or tabs, with the text that is written instead. */
const INNER_FORMULAS = [
  [';=1+1', ";'=1+1"],
  ['a;=1+1', "a;'=1+1"],
  ['a; @SUM(A1)', "a; '@SUM(A1)"],
  ['a\t+cmd', "a\t'+cmd"],
  ['a;"=1+1;b', 'a;"\'=1+1;b'],
  ['a\n=1;-2+cmd', "a\n'=1;'-2+cmd"],
  ['a\r\n＝1', "a\r\n'＝1"],
  ['=1;=2', "'=1;'=2"],
  ['\t=1', "'\t'=1"],
  ['\r=1', "'\r'=1"],
  ['\n=1', "'\n'=1"],
  ['a;-3', 'a;-3'],
  ['a;+1 555 0100;b', 'a;+1 555 0100;b'],
  ['a;b', 'a;b'],
  ['a; b=1', 'a; b=1'],
]

describe('CSV', () => {
  it('is RFC 4180: CRLF, quotes only where some spreadsheet needs them (F72) and doubled, UTF-8 without a byte order mark', async () => {
    const base = await makeSheet(['a,b', 'c"d', 'e'])
    await addRows(base, [
      { 'a,b': 'plain text', 'c"d': 'say "hi"', e: 'x,y' },
      { 'a,b': 'two\nlines', 'c"d': 'two\r\nlines', e: 'Zürich 日本 🌱' },
      { 'a,b': '', 'c"d': null, e: '\\.' },
      { 'a,b': 'a;b', 'c"d': 'a\tb', e: '\u0002a\u0001\u0002\u0002' },
      { 'a,b': true, 'c"d': [1, { x: 'y' }], e: 12345678901234567890n.toString() },
    ])
    const { bytes, headers } = await finish(base)
    expect(bytes.toString('utf8')).toBe(
      [
        '"a,b","c""d",e',
        'plain text,"say ""hi""","x,y"',
        '"two\nlines","two\r\nlines",Zürich 日本 🌱',
        ',,\\.',
        '"a;b","a\tb",\u0002a\u0001\u0002\u0002',
        'true,"[1, {""x"": ""y""}]",12345678901234567890',
        '',
      ].join('\r\n'),
    )
    expect(headers['content-type']).toBe('text/csv; charset=utf-8')
  })

  it('D82: bom puts a byte order mark in front', async () => {
    const base = await makeSheet(['a'])
    await addRows(base, [{ a: 'Zürich' }])
    expect((await finish(base, { bom: true })).bytes.toString()).toBe('\uFEFFa\r\nZürich\r\n')
    expect((await finish(base, { bom: true, format: 'jsonl' })).bytes.toString()).toBe('{"a":"Zürich"}\n')
  })

  it('a file of one column has no blank lines, which readers would skip', async () => {
    const base = await makeSheet(['only'])
    await addRows(base, [{ only: 'a' }, {}, { only: '' }, { only: 'b' }])
    expect((await finish(base)).bytes.toString()).toBe('only\r\na\r\n""\r\n""\r\nb\r\n')
  })

  it('D42: what a spreadsheet would run as a formula is escaped; numbers and telephone numbers are left alone', async () => {
    const base = await makeSheet(['text', 'other'])
    const texts = [...FORMULAS, ...HARMLESS]
    await addRows(
      base,
      texts.map((text) => ({ text, other: text })),
    )
    const rows = (await csv(base)).slice(1)
    const expected = [...FORMULAS.map((text) => `'${text}`), ...HARMLESS]
    expect(rows).toEqual(expected.map((text) => [text, text]))
  })

  it('D42: so is text that becomes a cell with a separator other than the comma', async () => {
    const base = await makeSheet(['text', 'other'])
    await addRows(
      base,
      INNER_FORMULAS.map(([text]) => ({ text, other: 'x' })),
    )
    expect((await csv(base)).slice(1)).toEqual(INNER_FORMULAS.map(([, text]) => [text, 'x']))
  })

  it('D42: headers are escaped too; JSONL and XLSX keep texts as they are', async () => {
    const base = await makeSheet(['=A1', 'b'])
    await addRows(base, [{ '=A1': '=1+1', b: 'x' }])
    expect(await csv(base)).toEqual([
      ["'=A1", 'b'],
      ["'=1+1", 'x'],
    ])
    expect(await jsonl(base)).toEqual([{ '=A1': '=1+1', b: 'x' }])
    const { bytes } = await finish(base, { format: 'xlsx' })
    expect((await read(bytes)).sheets[0]?.rows).toEqual([
      ['=A1', 'b'],
      ['=1+1', 'x'],
    ])
  })
})

describe('JSONL', () => {
  it('keeps JSON types, with numbers of inputs as the texts they are stored as', async () => {
    const base = await makeSheet(['n', 'v'])
    await addEcho(base, '{{input.v}}')
    await addRows(
      base,
      `{"rows":[{"n":12345678901234567890.10,"v":${JSON.stringify(heard({ deep: [1, true, null, 'x\ny'] }))}}]}`,
    )
    await addRows(base, [{ v: heard(3.5) }])
    await run(base)
    const { bytes, headers, record } = await finish(base, { format: 'jsonl' })
    expect(splitLines(bytes).map((line) => JSON.parse(line))).toEqual([
      {
        n: '12345678901234567890.10',
        v: heard({ deep: [1, true, null, 'x\ny'] }),
        'Echo: said': null,
        'Echo: heard': { deep: [1, true, null, 'x\ny'] },
      },
      { n: null, v: heard(3.5), 'Echo: said': null, 'Echo: heard': 3.5 },
    ])
    expect(headers['content-type']).toBe('application/x-ndjson; charset=utf-8')
    expect(record.row_count).toBe(2)
  })

  it('has all columns, also beyond the arguments of one function call', async () => {
    const names = Array.from({ length: 150 }, (_, n) => `column ${n}`)
    const base = await makeSheet(names)
    const row = Object.fromEntries(names.map((name, n) => [name, `value ${n}`]))
    await addRows(base, [row])
    expect(await jsonl(base)).toEqual([row])
    expect(await csv(base)).toEqual([names, Object.values(row)])
  })
})

describe('XLSX', () => {
  it('texts are cells of text, numbers of outputs numbers; structures are JSON', async () => {
    const base = await makeSheet(['text', 'said'])
    await addEcho(base, '{{input.said}}')
    await addRows(base, [
      { text: '=1+1', said: heard(3.5) },
      { text: '+1 555 0100', said: heard({ a: [1] }) },
      { text: 'line\nbreak\r and \u0001 _x0041_ <&>', said: heard(true) },
      { text: '', said: heard('12') },
    ])
    await run(base)
    const { bytes, headers } = await finish(base, { format: 'xlsx' })
    const { sheets } = await read(bytes)
    expect(sheets.map((sheet) => sheet.name)).toEqual(['Export'])
    expect(sheets[0]?.rows.map((row) => [row[0], row[2], row[3]])).toEqual([
      ['text', 'Echo: said', 'Echo: heard'],
      ['=1+1', null, 3.5],
      ['+1 555 0100', null, '{"a": [1]}'],
      ['line\nbreak\r and \u0001 _x0041_ <&>', null, true],
      ['', null, '12'],
    ])
    expect(headers['content-type']).toBe('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet')
  })

  it('D95: inputs of type number are numbers, however they came', async () => {
    const base = await makeSheet(['text'])
    await org.call('POST', `${base}/inputs`, [{ name: 'count', type: 'number' }])
    await addRows(base, [
      { text: '12', count: 12 },
      { text: '12', count: '12.5' },
      { text: '12', count: '12345678901234567890' },
    ])
    const { bytes } = await finish(base, { format: 'xlsx' })
    expect((await read(bytes)).sheets[0]?.rows.slice(1)).toEqual([
      ['12', 12],
      ['12', 12.5],
      ['12', '12345678901234567890'],
    ])
  })

  it('a text that is too long for a cell fails the export and says where; CSV has all of it', async () => {
    const base = await makeSheet(['Company', 'long'])
    const text = 'x'.repeat(32_768)
    await addRows(base, [
      { Company: 'a', long: text.slice(1) },
      { Company: 'b', long: text },
    ])
    const { export_id } = await start(base, { format: 'xlsx' })
    const failed = await ended(base, export_id)
    expect(failed).toMatchObject({ status: 'failed', progress: 0, completed_at: expect.any(String) })
    expect(failed.error).toBe(
      'Row 2, column "long" has 32768 characters; a cell of a workbook holds at most 32767. Export as csv or jsonl',
    )
    expect(failed).not.toHaveProperty('file_url')
    expect((await csv(base))[2]).toEqual(['b', text])
  })
})
