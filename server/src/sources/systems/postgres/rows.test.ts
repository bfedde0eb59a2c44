import { connect } from 'node:net'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { serveRaw } from '#test/doubles/loopback-server.ts'
import { makeDatabase } from '#test/plumbing/harness.ts'
import { createKey } from '../../../catalog/provider/access.ts'
import { postgres } from '../../../catalog/providers/postgres/provider.ts'
import { OPEN_GATE } from '../../../catalog/testing/provider-double.ts'
import { createEgress } from '../../../lib/egress/egress.ts'
import { callProvider } from '../../reach.ts'
import { listOptions } from '../../testing/list-options.ts'
import { makeServices, pullSource } from '../../testing/pull-source.ts'

const url = await makeDatabase()
const client = new pg.Client({ connectionString: url })
await client.connect()
afterAll(() => client.end())

/** Opens a port on loopback for the server, which only listens on a socket in the file system. */
async function openPort(): Promise<string> {
  const { host } = client
  const { port } = await serveRaw((socket) => {
    const server = connect(`${host}/.s.PGSQL.${client.port}`)
    server.on('error', () => socket.destroy())
    socket.pipe(server).pipe(socket)
  })
  const { username, password, pathname } = new URL(url)
  return `postgres://${username}:${password}@127.0.0.1:${port}${pathname}`
}

async function pull(body: Record<string, unknown>, settings: Record<string, unknown> = {}) {
  return pullSource('import_from_postgres', body, { fields: { secret: await openPort() }, ...settings })
}

let tables = 0
/** Creates a table with these columns and rows. */
async function makeTable(columns: string, values: string): Promise<string> {
  tables += 1
  const table = `leads_${tables}`
  await client.query(`create table ${table} (${columns})`)
  await client.query(`insert into ${table} ${values}`)
  return table
}

describe('import_from_postgres', () => {
  it('reads a table whole, in pages by its key, with its columns as they are', async () => {
    const table = await makeTable(
      'id bigint primary key, name text, size numeric, seen timestamptz, tags text[], more jsonb, "Odd ""name" text',
      `select n, 'c' || n, 12345678901234567890.5, '2026-01-01 00:00:00.123456+02', '{a,b}', '{"x": 1}', null
       from generate_series(1, 2500) n`,
    )
    const pulled = await pull({ table, key_column: 'id' })
    expect(pulled).toMatchObject({ pages: 3, refusal: null, resume: null })
    expect(pulled.keys).toEqual(Array.from({ length: 2500 }, (_, n) => String(n + 1)))
    expect(pulled.rows[0]).toEqual({
      id: 1,
      name: 'c1',
      size: 12345678901234567000,
      seen: '2025-12-31T22:00:00.123456+00:00',
      tags: ['a', 'b'],
      more: { x: 1 },
      'Odd "name': null,
    })
    expect(pulled.stored[0]).toContain('12345678901234567890.5')
  })

  it('D28: numbers are stored as the database writes them', async () => {
    const table = await makeTable('id int primary key, price numeric(10, 2)', 'values (1, 19.9), (2, 20)')
    const { stored } = await pull({ table, key_column: 'id' })
    expect(stored).toEqual(['{"id":1,"price":19.90}', '{"id":2,"price":20.00}'])
  })

  it('with a cursor column and a schedule reads from its last value on, also if many rows share one', async () => {
    const table = await makeTable(
      'id uuid primary key default gen_random_uuid(), updated_at timestamptz',
      `(updated_at) select '2026-01-01 00:00:00+00' from generate_series(1, 2300)`,
    )
    const body = { table, key_column: 'id', cursor_column: 'updated_at' }
    const first = await pull(body)
    expect(new Set(first.keys).size).toBe(2300)
    await client.query(`insert into ${table} (updated_at) values ('2025-12-31 23:50:00+00')`)
    const late = await client.query(
      `insert into ${table} (updated_at) values ('2025-12-31 23:56:00+00'), ('2026-01-02'), ('2026-01-03') returning id`,
    )
    const second = await pull(body, { state: first.resume })
    const known = new Set(first.keys)
    // Rows committed late with a slightly earlier time are also found.
    expect(second.keys.filter((key) => !known.has(key)).sort()).toEqual(
      (late.rows as { id: string }[]).map(({ id }) => id).sort(),
    )
    const third = await pull(body, { state: second.resume })
    expect(third.keys).toHaveLength(1)
  })

  it('a growing number serves as cursor; rows whose cursor is empty are not lost', async () => {
    const table = await makeTable('id int, version int', `values (1, 5), (2, null), (3, 4), (null, 9)`)
    const body = { table, key_column: 'id', cursor_column: 'version' }
    const first = await pull(body)
    expect(first).toMatchObject({ keys: ['3', '1', '2'], resume: { from: { cursor: '5', isTime: false } } })
    expect((await pull(body, { state: first.resume })).keys).toEqual(['1', '2'])
  })

  it('reads a query, also one that ends with a semicolon and a comment', async () => {
    const table = await makeTable('id int, name text', `values (1, 'a'), (2, 'b')`)
    const query = `with all_of as (select * from ${table}) select id as nr, upper(name) as name from all_of -- all of them`
    expect((await pull({ query, key_column: 'nr' })).rows).toEqual([
      { nr: 1, name: 'A' },
      { nr: 2, name: 'B' },
    ])
    expect((await pull({ query: `select id from ${table};  `, key_column: 'id' })).keys).toEqual(['1', '2'])
  })

  it('can only read, and runs one statement only', async () => {
    const table = await makeTable('id int', 'values (1)')
    const writing = await pull({
      query: `with gone as (delete from ${table} returning id) select id from gone`,
      key_column: 'id',
    })
    expect(writing.refusal).toMatchObject({ kind: 'ineligible' })
    await client.query(
      `create function empty_${table}() returns int language sql as 'delete from ${table}; select 1'`,
    )
    const hidden = await pull({ query: `select empty_${table}() as id`, key_column: 'id' })
    expect(hidden.refusal).toMatchObject({
      kind: 'ineligible',
      message: expect.stringContaining('read-only transaction'),
    })
    const several = await pull({
      query: `select 1 as id) q; commit; delete from ${table}; select 1 from (select 1`,
      key_column: 'id',
    })
    expect(several.refusal).toMatchObject({
      kind: 'ineligible',
      message: expect.stringContaining('multiple commands'),
    })
    expect((await client.query(`select * from ${table}`)).rowCount).toBe(1)
  })

  it('reads as many long rows at a time as fit into memory', async () => {
    const table = await makeTable(
      'id int, body text',
      `select n, repeat('x', 100000) from generate_series(1, 250) n`,
    )
    const pulled = await pull({ table, key_column: 'id' })
    expect(pulled.keys).toHaveLength(250)
    expect(pulled.pages).toBe(4)
  })

  it('F62: short rows before long ones are read whole, in more pages, and a row beyond 16 MB is an error that says so', async () => {
    const table = await makeTable(
      'id int, body text',
      `select n, repeat('x', case when n > 40 then 1000000 else 1 end) from generate_series(1, 70) n`,
    )
    const pulled = await pull({ table, key_column: 'id' })
    expect([pulled.refusal, pulled.keys.length, new Set(pulled.keys).size]).toEqual([null, 70, 70])
    await client.query(`update ${table} set body = repeat('x', 30000000) where id between 5 and 15`)
    expect((await pull({ table, key_column: 'id' })).refusal).toMatchObject({
      message: expect.stringContaining('larger than 16000000 bytes'),
    })
  })

  it.each([
    [
      { table: 'no_such_table', key_column: 'id' },
      { kind: 'ineligible', message: expect.stringContaining('does not exist') },
    ],
    [
      { table: 'pg_class', key_column: 'nr' },
      { kind: 'ineligible', message: expect.stringContaining('nr') },
    ],
    [
      { query: 'select 1/0 as id', key_column: 'id' },
      { kind: 'ineligible', message: expect.stringContaining('division') },
    ],
  ])('says what the server says of %j', async (body, refusal) => {
    expect((await pull(body)).refusal).toMatchObject(refusal)
  })

  it('a wrong database is refused as such, and no message holds the password', async () => {
    const wrong = new URL(await openPort())
    wrong.pathname = '/no_such_database'
    wrong.password = 'a-password-0123456789'
    const { refusal } = await pull({ table: 'x', key_column: 'id' }, { fields: { secret: wrong.href } })
    expect(refusal).toMatchObject({ kind: 'unconfigured' })
    expect(JSON.stringify(refusal)).not.toContain('a-password-0123456789')
  })

  it.each([
    ['https://acme.example', 'must be an address like postgres://'],
    ['postgres://a:b@db.example/x?sslmode=maybe', 'sslmode'],
  ])('an address like %s is refused', async (secret, words) => {
    const { refusal } = await pull({ table: 'x', key_column: 'id' }, { fields: { secret } })
    expect(refusal).toMatchObject({ kind: 'unconfigured', message: expect.stringContaining(words) })
  })

  it('neither a silent server nor one that ends the connection blocks the pull for ever', async () => {
    const { port } = await serveRaw((socket) => socket.on('data', () => socket.end()))
    const { refusal } = await pull(
      { table: 'x', key_column: 'id' },
      { fields: { secret: `postgres://a:b@127.0.0.1:${port}/x` } },
    )
    expect(refusal).toMatchObject({ kind: 'error', transient: true })
  })

  it('an address within a private network is reached only where LOAM_EGRESS_ALLOW names it', async () => {
    const egress = createEgress({ allow: [] })
    try {
      const services = { ...makeServices(), egress, gate: OPEN_GATE }
      const key = createKey('own', { secret: await openPort() })
      const request = { path: '/', json: { text: 'select 1', limit: 1 } }
      expect(await callProvider(postgres, key, services, { request, schema: z.unknown() })).toMatchObject({
        ok: false,
        refusal: { kind: 'error', transient: false, message: expect.stringContaining('LOAM_EGRESS_ALLOW') },
      })
    } finally {
      await egress.close()
    }
  })

  it('lists schemas, tables and columns', async () => {
    const table = await makeTable('id int, name text', `values (1, 'a')`)
    const settings = { fields: { secret: await openPort() } }
    const schemas = await listOptions('import_from_postgres', 'schema', {}, settings)
    expect(schemas).toMatchObject({
      ok: true,
      body: expect.arrayContaining([{ value: 'public', label: 'public' }]),
    })
    const found = await listOptions('import_from_postgres', 'table', { schema: 'public' }, settings)
    expect(found).toMatchObject({
      body: expect.arrayContaining([{ value: table, label: table, extras: { type: 'base table' } }]),
    })
    expect(
      await listOptions('import_from_postgres', 'key_column', { schema: 'public', table }, settings),
    ).toEqual({
      ok: true,
      body: [
        { value: 'id', label: 'id', extras: { type: 'integer' } },
        { value: 'name', label: 'name', extras: { type: 'text' } },
      ],
    })
  })

  it.each([
    [{ key_column: 'id' }, 'table', 'required, or query'],
    [{ table: 'a', query: 'select 1', key_column: 'id' }, 'query', 'cannot be combined with table'],
    [{ query: 'delete from a', key_column: 'id' }, 'query', 'must be one read-only statement'],
    [{ table: 'a"; drop', key_column: 'id' }, 'table', 'must be the name of a table'],
    [{ table: 'a.b', schema: 'c', key_column: 'id' }, 'schema', 'give it once'],
    [{ table: 'a' }, 'key_column', 'required'],
  ])('refuses %j by name', async (body, field, words) => {
    await expect(pull(body)).rejects.toMatchObject({
      details: { errors: [{ field, message: expect.stringContaining(words) }] },
    })
  })
})
