import { describe, expect, it } from 'vitest'
import { type Reply, type Seen, serveDouble } from '../../../catalog/testing/provider-double.ts'
import { listOptions } from '../../testing/list-options.ts'
import { pullSource } from '../../testing/pull-source.ts'

const COLUMNS = [
  { name: 'ID', type: 'fixed' },
  { name: 'NAME', type: 'text' },
  { name: 'UPDATED_AT', type: 'timestamp_ntz' },
]
const row = (id: number, at = `1767225600.${String(id).padStart(9, '0')}`) => [String(id), `c${id}`, at]
const result = (data: (string | null)[][], partitions = 1): Reply => ({
  json: {
    code: '090001',
    statementHandle: 'h-1',
    resultSetMetaData: {
      numRows: data.length,
      format: 'jsonv2',
      rowType: COLUMNS,
      partitionInfo: Array.from({ length: partitions }, () => ({ rowCount: 1 })),
    },
    data,
  },
})
const BODY = { table: 'SALES.PUBLIC.LEADS', key_column: 'id' }
const FIELDS = { secret: 'a-key', warehouse: 'WH', role: 'READER' }

async function pullFrom(
  answer: (seen: Seen, place: number) => Reply,
  body: Record<string, unknown> = BODY,
  settings = {},
) {
  const { origin, seen } = await serveDouble(answer)
  const urls = { snowflake: origin }
  const pulled = await pullSource('import_from_snowflake', body, { urls, fields: FIELDS, ...settings })
  const asked = seen.map((one) => (one.body === '' ? { path: one.path, ...one.query } : JSON.parse(one.body)))
  return { seen, asked, pulled }
}

describe('import_from_snowflake', () => {
  it('submits a statement by key, on the warehouse and role of the connection, and continues after the last key', async () => {
    const { seen, asked, pulled } = await pullFrom(
      (_seen, place) => result(place === 0 ? [row(1), row(2)] : [row(3)]),
      { ...BODY, database: 'SALES' },
      { limit: 2 },
    )
    expect(asked).toEqual([
      {
        statement: 'select q.* from SALES.PUBLIC.LEADS q where q.id is not null order by q.id limit 2',
        bindings: {},
        warehouse: 'WH',
        role: 'READER',
        database: 'SALES',
        timeout: 600,
      },
      expect.objectContaining({
        statement:
          'select q.* from SALES.PUBLIC.LEADS q where q.id is not null and q.id > ?::NUMBER(38, 9) order by q.id limit 2',
        bindings: { 1: { type: 'TEXT', value: '2' } },
      }),
    ])
    expect(seen[0]?.headers).toMatchObject({
      authorization: 'Bearer a-key',
      'x-snowflake-authorization-token-type': 'PROGRAMMATIC_ACCESS_TOKEN',
    })
    expect(pulled).toMatchObject({ keys: ['1', '2', '3'], refusal: null, resume: null })
    expect(pulled.rows[0]).toEqual({ ID: 1, NAME: 'c1', UPDATED_AT: '2026-01-01T00:00:00.000000001' })
  })

  it('reads the other partitions of a result, which come without the names of columns', async () => {
    const { asked, pulled } = await pullFrom(({ query }) =>
      query['partition'] === undefined
        ? result([row(1)], 3)
        : { json: { data: [row(1 + Number(query['partition']))] } },
    )
    expect(asked.slice(1)).toEqual([
      { path: '/api/v2/statements/h-1', partition: '1' },
      { path: '/api/v2/statements/h-1', partition: '2' },
    ])
    expect(pulled.keys).toEqual(['1', '2', '3'])
  })

  it('polls a statement that is still running', async () => {
    const { asked, pulled } = await pullFrom((_seen, place) =>
      place < 2
        ? { status: 202, json: { code: '333334', statementHandle: 'h-1', statementStatusUrl: '/x' } }
        : result([row(1)]),
    )
    expect(asked.slice(1)).toEqual([{ path: '/api/v2/statements/h-1' }, { path: '/api/v2/statements/h-1' }])
    expect(pulled).toMatchObject({ keys: ['1'], refusal: null })
  })

  it('submits the statement again, after the last row, if its result is no longer kept', async () => {
    const { asked, pulled } = await pullFrom(({ method }, place) => {
      if (method === 'GET') return { status: 404, json: { code: '390142', message: 'not found' } }
      return result([row(place === 0 ? 1 : 2)], place === 0 ? 2 : 1)
    })
    expect(asked[2]).toMatchObject({ bindings: { 1: { type: 'TEXT', value: '1' } } })
    expect(pulled).toMatchObject({ keys: ['1', '2'], refusal: null })
  })

  it('with a cursor column and a schedule reads from its last value on, to the nanosecond, and rows without a cursor last', async () => {
    const body = { query: 'select * from leads -- all;', key_column: 'ID', cursor_column: 'UPDATED_AT' }
    const first = await pullFrom(
      (_seen, place) => result([[row(1), row(2)], [row(3)], [['4', 'c4', null]]][place] ?? []),
      body,
      { limit: 2 },
    )
    expect(first.pulled.keys).toEqual(['1', '2', '3', '4'])
    expect(first.asked[1]).toMatchObject({
      statement: expect.stringContaining(
        '(q.UPDATED_AT > ?::TIMESTAMP_NTZ or (q.UPDATED_AT = ?::TIMESTAMP_NTZ and q.ID > ?::NUMBER(38, 9)))',
      ),
      bindings: { 1: { value: '2026-01-01T00:00:00.000000002' }, 3: { value: '2' } },
    })
    expect(first.asked[2].statement).toContain(
      'where q.ID is not null and q.UPDATED_AT is null order by q.ID',
    )
    const second = await pullFrom(() => result([]), body, { state: first.pulled.resume })
    expect(second.asked[0]).toMatchObject({
      statement: expect.stringContaining("q.UPDATED_AT >= dateadd('minute', -5, ?::TIMESTAMP_NTZ)"),
      bindings: { 1: { value: '2026-01-01T00:00:00.000000003' } },
    })
    expect(second.pulled.resume).toEqual(first.pulled.resume)
  })

  it.each([
    [
      { status: 422, json: { code: '002003', message: 'Object LEADS does not exist' } },
      { kind: 'ineligible', message: expect.stringContaining('LEADS does not exist') },
    ],
    [{ status: 401, json: { code: '390144', message: 'JWT token is invalid' } }, { kind: 'unconfigured' }],
    [
      { status: 429, headers: { 'retry-after': '2' } },
      { kind: 'rate_limited', afterMs: 2000 },
    ],
    [{ json: {} }, { kind: 'error' }],
  ])('passes on %j', async (reply, refusal) => {
    expect((await pullFrom(() => reply)).pulled.refusal).toMatchObject(refusal)
  })

  it('lists the columns if the key column does not exist', async () => {
    const { pulled } = await pullFrom(() => result([row(1)]), { ...BODY, key_column: '"id"' })
    expect(pulled.refusal).toMatchObject({ kind: 'ineligible', message: expect.stringContaining('ID, NAME') })
  })

  it('lists schemas of a database', async () => {
    const { origin, seen } = await serveDouble(() => ({
      json: {
        statementHandle: 'h',
        resultSetMetaData: {
          rowType: [
            { name: 'created_on', type: 'text' },
            { name: 'name', type: 'text' },
          ],
        },
        data: [['2026', 'PUBLIC']],
      },
    }))
    const settings = { urls: { snowflake: origin }, fields: FIELDS }
    const listed = await listOptions('import_from_snowflake', 'schema', { database: 'SALES' }, settings)
    expect(listed).toEqual({ ok: true, body: [{ value: 'PUBLIC', label: 'PUBLIC' }] })
    expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({ statement: 'show schemas in database "SALES"' })
    expect(
      await listOptions('import_from_snowflake', 'schema', { database: 'a"; drop' }, settings),
    ).toMatchObject({
      ok: false,
    })
  })

  it.each([
    [{ key_column: 'ID' }, 'table', 'required, or query'],
    [{ table: 'a; drop', key_column: 'ID' }, 'table', 'must be the name of a table'],
    [{ query: 'drop table a', key_column: 'ID' }, 'query', 'must be one read-only statement'],
    [{ table: 'a', key_column: 'id or 1=1' }, 'key_column', 'must be a name'],
  ])('refuses %j by name', async (body, field, words) => {
    await expect(pullSource('import_from_snowflake', body)).rejects.toMatchObject({
      details: { errors: [{ field, message: expect.stringContaining(words) }] },
    })
  })
})
