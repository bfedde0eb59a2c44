import { connect } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveRaw } from '#test/doubles/loopback-server.ts'
import { makeDatabase } from '#test/plumbing/harness.ts'
import { createEgress } from '../../lib/egress/egress.ts'
import { connectionTo } from '../testing/crm.ts'
import { useActions } from '../testing/run-action.ts'

const runAction = useActions()
const url = await makeDatabase()
const client = new pg.Client({ connectionString: url })
await client.connect()
afterAll(() => client.end())
beforeAll(() =>
  client.query(`create table leads as
    select n as id, 'c' || n as name, array['a', 'b'] as tags, '{"x": 1}'::jsonb as more, 12345678901234567890.5 as size
    from generate_series(1, 1500) n`),
)

/**
 * Opens a port on loopback for the server, which listens on a socket in the file system, so that it is reached like any
 * other.
 */
async function openPort(): Promise<string> {
  const { port } = await serveRaw((socket) => {
    const server = connect(`${client.host}/.s.PGSQL.${client.port}`)
    server.on('error', () => socket.destroy())
    socket.pipe(server).pipe(socket)
  })
  const { username, password, pathname } = new URL(url)
  return `postgres://${username}:${password}@127.0.0.1:${port}${pathname}`
}

const run = async (inputs: Record<string, unknown>, settings = {}) =>
  runAction('postgres_query', inputs, {
    keys: connectionTo('postgres', { secret: await openPort() }),
    ...settings,
  })
const failing = (message: RegExp) => ({ kind: 'failed', message: expect.stringMatching(message) })

describe('postgres_query', () => {
  it('returns rows as JSON, with parameters that are never part of the statement', async () => {
    const name = "c7' or true --"
    const sql = 'select id, name, tags, more, size from leads where name = $1 or id = $2::int;'
    const row = { input: { name, id: 3 } }
    const outcome = await run({ sql, params: ['{{input.name}}', '{{input.id}}'] }, { row })
    const shown: unknown = JSON.parse(JSON.stringify(outcome))
    expect(shown).toMatchObject({
      kind: 'done',
      outputs: {
        rows: [{ id: 3, name: 'c3', tags: ['a', 'b'], more: { x: 1 } }],
        count: 1,
        more: false,
      },
    })
    expect(JSON.stringify(outcome)).toContain('12345678901234567890.5')
  })

  it('an empty parameter is null, and a list is JSON', async () => {
    const sql =
      'select $1::text is null as none, name from leads where name in (select jsonb_array_elements_text($2)) order by id'
    const row = { input: { none: null, names: ['c1', 'c2'] } }
    const outcome = await run({ sql, params: ['{{input.none}}', '{{input.names}}'] }, { row })
    expect(outcome).toMatchObject({
      outputs: {
        rows: [
          { none: true, name: 'c1' },
          { none: true, name: 'c2' },
        ],
      },
    })
  })

  it('returns no more rows and bytes than allowed, and says that there are more', async () => {
    expect(await run({ sql: 'select id from leads', limit: '2' })).toMatchObject({
      outputs: { count: 2, more: true },
    })
    const long = await run({ sql: `select repeat('x', 10000) as text from leads`, limit: '1000' })
    expect(long).toMatchObject({ kind: 'done', outputs: { more: true } })
    expect(JSON.stringify(long).length).toBeLessThan(3_000_000)
  })

  it('accepts no references in the statement', async () => {
    await expect(run({ sql: "select '{{input.name}}'" })).rejects.toThrow(/takes no references: write \$1/)
  })

  it.each([
    ['delete from leads', { kind: 'unrunnable', message: expect.stringMatching(/one statement that reads/) }],
    [
      'with gone as (delete from leads returning 1) select * from gone',
      failing(/must not|cannot|WITH clause/i),
    ],
    ['select 1) q; delete from leads; --', failing(/multiple commands|syntax error/)],
    ['select set_config($1, $2, false)', failing(/parameters/)],
    ['select no_such_column from leads', failing(/no_such_column/)],
  ])('%s changes nothing', async (sql, expected) => {
    expect(await run({ sql })).toMatchObject(expected)
    const { rows } = await client.query('select count(*)::int as count from leads')
    expect(rows).toEqual([{ count: 1500 }])
  })

  it('connects only where the egress allows it', async () => {
    const egress = createEgress({ allow: [] })
    try {
      expect(await run({ sql: 'select 1' }, { egress })).toMatchObject({ kind: 'failed' })
    } finally {
      await egress.close()
    }
  })
})
