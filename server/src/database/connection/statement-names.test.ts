import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { createLog } from '#server/lib/log.ts'
import { targets } from '#test/plumbing/databases.ts'
import { makeDatabase } from '#test/plumbing/harness.ts'
import { type Db, openStore, type Store } from './db.ts'
import { KEYED_READ } from './statement-names.ts'

describe.each(targets())('named statements on $name', (target) => {
  let store: Store

  beforeAll(async () => {
    store = openStore({ url: await makeDatabase(target), log: createLog('silent'), connections: 1 })
    return () => store.close()
  })

  const kept = async () =>
    (
      await store.query<{ text: string }>({
        text: `select statement as text from pg_prepared_statements where name like 'loam-%'`,
      })
    ).map(({ text }) => text)
  const findMembers = (ids: string[]) =>
    store.system.selectFrom('members').select('email').where('member_id', 'in', ids).execute()

  it('a plan is kept for what comes again and again, once', async () => {
    const org = newId()
    for (let n = 0; n < 30; n++) {
      await store.org(org).selectFrom('members').select('role').where('email', '=', `${n}`).execute()
      await store.system.selectFrom('members').select('role').where('email', '=', `${n}`).execute()
    }
    expect(await kept()).toEqual(['select "role" from "members" where "email" = $1'])
  })

  it('none is kept for texts that vary', async () => {
    const before = await kept()
    for (let n = 1; n < 60; n++) await findMembers(Array.from({ length: n }, newId))
    expect(await kept()).toEqual(before)
  })

  it('none is kept for tables that grow in leaps, alone or joined', async () => {
    const before = await kept()
    const sheet = newId()
    for (let n = 0; n < 30; n++) {
      await store.system.selectFrom('rows').select('seq').where('sheet_id', '=', sheet).execute()
      await store.system
        .selectFrom('sheets')
        .innerJoin('rows', 'rows.sheet_id', 'sheets.sheet_id')
        .select('seq')
        .execute()
    }
    expect(await kept()).toEqual(before)
  })

  it('at most 100 are kept', async () => {
    for (let n = 1; n <= 110; n++) {
      const ids = Array.from({ length: n }, newId)
      for (let use = 0; use < 11; use++) await findMembers(ids)
    }
    expect(await kept()).toHaveLength(100)
    expect(await findMembers([newId()])).toEqual([])
  })
})

describe.each(targets())('reads by key on $name', (target) => {
  let store: Store

  beforeAll(async () => {
    // One of the four connections is for such reads.
    store = openStore({ url: await makeDatabase(target), log: createLog('silent'), connections: 4 })
    return () => store.close()
  })

  /** Returns the number of statements kept for it, and whether a plan may sort, on the connection of the read. */
  const look = async (db: Db) => {
    const { rows } = await sql<{ kept: number; sorts: string }>`${sql.raw(KEYED_READ)}
      select count(*)::int as kept, current_setting('enable_sort') as sorts from pg_prepared_statements
      where statement like ${`${KEYED_READ}%`}`.execute(db)
    return rows[0]
  }

  it('have a connection with plans for any size, which are kept', async () => {
    const db = store.org(newId())
    for (let n = 0; n < 30; n++) await look(db)
    expect(await look(db)).toEqual({ kept: 1, sorts: 'off' })
  })

  it('are planned as anything else within a transaction', async () => {
    const seen = await store
      .org(newId())
      .transaction()
      .execute(async (trx) => {
        for (let n = 0; n < 30; n++) await look(trx)
        return look(trx)
      })
    expect(seen).toEqual({ kept: 0, sorts: 'on' })
  })
})
