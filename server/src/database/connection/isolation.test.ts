import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { addMember } from '#server/organisation/members.ts'
import { createOrganisation } from '#server/organisation/organisations.ts'
import { createWorkflow } from '#server/sheets/workflows.ts'
import { targets } from '#test/plumbing/databases.ts'
import { makeStore } from '#test/plumbing/harness.ts'
import { OPERATOR } from '../../organisation/store/audit.ts'
import type { Db, Store } from './db.ts'

/** Creates an organisation with at least one record in every table that organisations share. */
async function fillOrganisation(db: Db): Promise<string> {
  const { orgId } = await createOrganisation(db, OPERATOR, {
    name: 'O',
    adminEmail: 'ann@example.com',
    initialCredits: 5,
  })
  const member = await addMember(db, OPERATOR, orgId, {
    invite: { email: 'bob@example.com', role: 'member' },
    memberLimit: null,
  })
  const { member_id } = member
  const { workflow_id } = await createWorkflow(db, { ...OPERATOR, orgId, memberId: member_id }, 'W')
  const ids = { org_id: orgId, member_id, workflow_id, sheet_id: workflow_id }
  // Values for columns that take one of a list.
  const words = { format: 'csv', role: 'member', kind: 'company' }
  const newIds = {
    run_id: newId(),
    shortcut_id: newId(),
    instance_id: newId(),
    segment_id: newId(),
    budget_id: newId(),
    alert_id: newId(),
  }
  const synced = { sync_id: newId(), connection_id: newId() }
  await fillRest(db, { ...ids, ...words, ...newIds, ...synced })
  return orgId
}

const SAMPLES: Record<string, () => unknown> = {
  uuid: newId,
  text: () => newId(),
  _text: () => [],
  _uuid: () => [],
  _int2: () => [],
  int4: () => 1,
  int8: () => 1,
  bool: () => true,
  date: () => '2024-01-31',
  timestamptz: () => '2024-01-31T00:00:00Z',
  json: () => ({}),
  jsonb: () => ({}),
  bytea: () => `\\x${randomBytes(8).toString('hex')}`,
}

/** The values for tables whose lists differ from the rest. */
const TABLE_VALUES: Record<string, Record<string, unknown>> = {
  record_terms: { topic: 'source' },
  segment_changes: { kind: 'enter' },
  source_tokens: { kind: 'pixel' },
  segment_destinations: { run: 'all', reentry_mode: 'suppress' },
  budgets: { scope: 'organisation', period: 'day', mode: 'stop' },
  purses: { kind: 'cap' },
  credit_blocks: { kinds: [] },
  row_order_pieces: { seqs: [] },
}

/** Adds one record to each table that has none: known ids by their column names, other values by their types. */
async function fillRest(db: Db, ids: { org_id: string } & Record<string, string>): Promise<void> {
  // These tables come before the tables that refer to them.
  const owners = [
    'runs',
    'shortcuts',
    'sources',
    'record_segments',
    'segment_syncs',
    'segment_destinations',
    'budgets',
    'budget_alerts',
  ]
  const turn = ({ name }: { name: string }) => (owners.includes(name) ? owners.indexOf(name) : owners.length)
  const tables = (await db.introspection.getTables()).toSorted((a, b) => turn(a) - turn(b))
  for (const { name, columns, isView } of tables) {
    if (isView || !columns.some((column) => column.name === 'org_id')) continue
    const table = sql.table(name)
    const { rows } = await sql`select from ${table} where org_id = ${ids.org_id} limit 1`.execute(db)
    if (rows.length > 0) continue
    const needed = columns.filter(
      (column) =>
        column.name === 'alert_id' ||
        (!column.isNullable && !column.hasDefaultValue && !column.isAutoIncrementing),
    )
    const known: Record<string, unknown> = { ...ids, ...TABLE_VALUES[name] }
    const record = Object.fromEntries(
      needed.map((column) => [column.name, known[column.name] ?? SAMPLES[column.dataType]?.()]),
    )
    const names = sql.join(needed.map((column) => sql.ref(column.name)))
    await sql`insert into ${table} (${names})
      select ${names} from jsonb_populate_record(null::${table}, ${JSON.stringify(record)}::jsonb)`.execute(
      db,
    )
  }
}

type Table = { name: string; forced: boolean }

/** Lists the tables that hold records of organisations, and whether row-level security binds even their owner. */
async function listTables(store: Store): Promise<Table[]> {
  const { rows } = await sql<Table>`
    select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as forced
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id'
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace order by 1`.execute(store.system)
  return rows
}

const REFUSED = { code: '42501' }
const UNDO = new Error('undo')

describe.each(targets())('row-level security on $name', async (target) => {
  const { store } = await makeStore(target)
  const [mine, theirs] = [await fillOrganisation(store.system), await fillOrganisation(store.system)]
  const tables = await listTables(store)
  const db = store.org(mine)

  it('the role that Loam connects as is bound by it', async () => {
    const { rows } = await sql<{ free: boolean }>`
      select rolsuper or rolbypassrls as free from pg_roles where rolname = current_user`.execute(db)
    expect(rows).toEqual([{ free: false }])
  })

  describe.each(tables)('$name', ({ name, forced }) => {
    const table = sql.table(name)
    const count = async (as: Db, org: string): Promise<number> => {
      const { rows } = await sql<{
        n: number
      }>`select count(*) as n from ${table} where org_id = ${org}`.execute(as)
      return rows[0]?.n ?? 0
    }

    it('is protected, also from the owner of the table', () => {
      expect(forced).toBe(true)
    })

    it('a statement without org_id sees one organisation, as many of its records as the program itself', async () => {
      expect(await count(store.system, theirs)).toBeGreaterThan(0)
      const { rows } = await sql<{ org_id: string }>`select org_id from ${table}`.execute(db)
      expect(new Set(rows.map((row) => row.org_id))).toEqual(new Set([mine]))
      expect(rows).toHaveLength(await count(store.system, mine))
      expect(await count(db, theirs)).toBe(0)
    })

    it('an update or a deletion of what belongs to another organisation touches nothing', async () => {
      const before = await count(store.system, theirs)
      const updated = await sql`update ${table} set org_id = org_id where org_id = ${theirs}`.execute(db)
      const deleted = await sql`delete from ${table} where org_id = ${theirs}`.execute(db)
      expect([updated.numAffectedRows, deleted.numAffectedRows]).toEqual([0n, 0n])
      expect(await count(store.system, theirs)).toBe(before)
    })

    it('an update without a condition touches its own records only', async () => {
      const undone = db.transaction().execute(async (trx) => {
        const { numAffectedRows } = await sql`update ${table} set org_id = org_id`.execute(trx)
        expect(numAffectedRows).toBe(BigInt(await count(store.system, mine)))
        throw UNDO
      })
      await expect(undone).rejects.toBe(UNDO)
    })

    it('a record of another organisation cannot be written', async () => {
      const { rows } = await sql<{ record: unknown }>`
        select to_jsonb(t) as record from ${table} t where org_id = ${theirs} limit 1`.execute(store.system)
      const record = JSON.stringify(rows[0]?.record)
      const insert = sql`insert into ${table} select * from jsonb_populate_record(null::${table}, ${record}::jsonb)`
      await expect(insert.execute(db)).rejects.toMatchObject(REFUSED)
      await expect(sql`update ${table} set org_id = ${theirs}`.execute(db)).rejects.toMatchObject(REFUSED)
    })
  })

  it('the entries of the ledger, a view, are those of one organisation', async () => {
    const { rows: all } = await sql`select from ledger_entries where org_id = ${theirs}`.execute(store.system)
    expect(all.length).toBeGreaterThan(0)
    const { rows } = await sql<{ org_id: string }>`select org_id from ledger_entries`.execute(db)
    expect(new Set(rows.map(({ org_id }) => org_id))).toEqual(new Set([mine]))
  })

  it('a connection without an organisation sees nothing', async () => {
    const { rows } = await sql`select workflow_id from workflows`.execute(store.org('nobody'))
    expect(rows).toEqual([])
  })
})
