import { readdirSync } from 'node:fs'
import { Client } from 'pg'
import { describe, expect, it } from 'vitest'
import { createDatabase, targets } from '#test/plumbing/databases.ts'
import { makeDatabase } from '#test/plumbing/harness.ts'
import { migrate, MigrationError, newestSchemaVersion } from './migrate.ts'

const files = readdirSync(new URL('../migrations/', import.meta.url)).sort()

async function run(url: string, ...statements: string[]): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    let rows: Record<string, unknown>[] = []
    for (const statement of statements) rows = (await client.query<Record<string, unknown>>(statement)).rows
    return rows
  } finally {
    await client.end()
  }
}

const listTables = (url: string) =>
  run(
    url,
    `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
  )
const ignore = () => undefined

it('migrations are numbered 1, 2, 3, ... without a gap, and the last number is the newest schema version', () => {
  expect(files.map((file) => Number.parseInt(file, 10))).toEqual(files.map((_, n) => n + 1))
  expect(newestSchemaVersion()).toBe(files.length)
})

describe.each(targets())('on $name', (target) => {
  it('each migration is applied once when 8 processes migrate at once', async () => {
    const url = await createDatabase({ target })
    const lines: string[] = []
    await Promise.all(Array.from({ length: 8 }, () => migrate(url, (line) => lines.push(line))))
    expect(lines).toEqual([...files.map((file) => `applying migration ${file}`), 'migrating the job queue'])
    expect(await run(url, 'select version, name from schema_migrations order by version')).toEqual(
      files.map((name, n) => ({ version: n + 1, name })),
    )
    await migrate(url, (line) => lines.push(line))
    expect(lines).toHaveLength(files.length + 1)
  })

  it('M13: what the ledger had before usage was counted is counted by the migration', async () => {
    const url = await createDatabase({ target })
    await migrate(url, ignore, 36)
    const org = '00000000-0000-7000-8000-000000000001'
    await run(
      url,
      `select set_config('loam.org', '*', false)`,
      `insert into organisations (org_id, name) values ('${org}', 'Earlier')`,
      `insert into credit_entries (org_id, entry_id, amount_millis, balance_millis, reason)
        values ('${org}', gen_random_uuid(), -1500, 0, 'cell')`,
    )
    await migrate(url, ignore)
    const counted = `select sum(credits_millis)::int as credits from usage_charges`
    expect(await run(url, `select set_config('loam.org', '*', false)`, counted)).toEqual([{ credits: 1500 }])
  })

  it('M13: what the first count of usage did not see is counted later, and nothing twice', async () => {
    const url = await createDatabase({ target })
    const system = `select set_config('loam.org', '*', false)`
    const [seen, unseen] = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002']
    const enter = (at: string, millis: number) =>
      [seen, unseen].map(
        (
          org,
        ) => `insert into credit_entries (org_id, entry_id, at, amount_millis, balance_millis, reason, action_id, providers)
          values ('${org}', gen_random_uuid(), ${at}, ${-millis}, 0, 'cell', 'a', '[{"provider": "p", "credits": 0.4}]')`,
      )
    await migrate(url, ignore, 36)
    const orgs = `insert into organisations (org_id, name) values ('${seen}', 'Seen'), ('${unseen}', 'Unseen')`
    await run(url, system, orgs, ...enter(`now() - interval '40 days'`, 1500), ...enter('now()', 700))
    await migrate(url, ignore, 37)
    // The state that row-level security caused: the migration did not see one organisation, and both spent credits after it.
    await run(
      url,
      system,
      ...[`usage_charges`, `usage_cells`].map((t) => `delete from ${t} where org_id = '${unseen}'`),
    )
    await run(url, system, ...enter('now()', 900))
    await migrate(url, ignore)
    const sums = (table: string, columns: string) =>
      run(
        url,
        system,
        `select day, provider, ${columns} from ${table} where org_id = '${seen}' group by 1, 2 order by 1, 2`,
      ).then(async (one) => [
        one,
        await run(
          url,
          system,
          `select day, provider, ${columns} from ${table} where org_id = '${unseen}' group by 1, 2 order by 1, 2`,
        ),
      ])
    const [charges, late] = await sums('usage_charges', 'sum(credits_millis)::int as millis')
    expect(charges).toMatchObject([
      { provider: 'p', millis: 400 },
      { provider: null, millis: 1100 },
      { provider: 'p', millis: 800 },
      { provider: null, millis: 800 },
    ])
    expect(late).toEqual(charges)
    const [cells, lateCells] = await sums(
      'usage_cells',
      'sum(cells)::int as cells, sum(cells_billed)::int as billed',
    )
    expect(cells).toMatchObject([
      { provider: 'p', cells: 1, billed: 1 },
      { provider: 'p', cells: 1, billed: 1 },
    ])
    expect(lateCells).toEqual(cells)
  })

  it('leaves no lock and no connection behind', async () => {
    const url = await createDatabase({ target })
    await migrate(url, ignore)
    const here = 'database = (select oid from pg_database where datname = current_database())'
    expect(await run(url, `select from pg_locks where locktype = 'advisory' and ${here}`)).toEqual([])
    expect(
      await run(
        url,
        `select from pg_stat_activity where application_name = 'loam migrations' and datname = current_database()`,
      ),
    ).toEqual([])
  })

  it('a newer schema is refused with one clear line, and nothing is changed', async () => {
    const url = await makeDatabase(target)
    await run(url, `insert into schema_migrations (version, name) values (9999, '9999_from_the_future.sql')`)
    const before = await listTables(url)
    const refusal = await migrate(url, ignore).catch((cause: unknown) => cause)
    expect(refusal).toBeInstanceOf(MigrationError)
    expect(refusal).toHaveProperty(
      'message',
      `The database has schema version 9999, this program knows up to ${files.length}. Start a newer Loam on it.`,
    )
    expect(await listTables(url)).toEqual(before)
  })

  it('a migration that fails is rolled back whole, is named, and succeeds once its cause is removed', async () => {
    const url = await createDatabase({ target })
    // The first migration creates this table last, so everything before it must be rolled back.
    await run(url, 'create table credit_entries (in_the_way int)')
    const lines: string[] = []
    const refusal = await migrate(url, (line) => lines.push(line)).catch((cause: unknown) => cause)
    expect(refusal).toBeInstanceOf(MigrationError)
    expect(String(refusal)).toContain('migration 0001_foundation.sql failed and was rolled back')
    expect(String(refusal)).toContain('relation "credit_entries" already exists')
    expect(lines).toEqual(['applying migration 0001_foundation.sql'])
    expect(await listTables(url)).toEqual([{ relname: 'credit_entries' }, { relname: 'schema_migrations' }])
    expect(await run(url, `select from pg_proc where proname like 'loam%'`)).toEqual([])
    expect(await run(url, 'select from schema_migrations')).toEqual([])

    await run(url, 'drop table credit_entries')
    await migrate(url, ignore)
    expect(await run(url, 'select max(version) as latest from schema_migrations')).toEqual([
      { latest: files.length },
    ])
  })

  it('losing the connection while waiting for another process is an error, not the end of the program', async () => {
    const url = await createDatabase({ target })
    const holder = new Client({ connectionString: url })
    await holder.connect()
    await migrate(url, ignore)
    await holder.query('select pg_advisory_lock(7310412019)')
    const waiting = migrate(url, ignore).catch((cause: unknown) => cause)
    let ended = 0
    while (ended === 0) {
      const { rowCount } = await holder.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'loam migrations'
          and datname = current_database() and wait_event_type = 'Lock'`,
      )
      ended = rowCount ?? 0
    }
    expect(await waiting).toBeInstanceOf(Error)
    await holder.end()
    await migrate(url, ignore)
  })

  it('D55: every table of an organisation is under row-level security that binds its owner as well', async () => {
    const url = await makeDatabase(target)
    const open = await run(
      url,
      `select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id'
        where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and not (c.relrowsecurity and c.relforcerowsecurity)`,
    )
    expect(open).toEqual([])
  })
})
