import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import { takeNamedLock } from '../../database/connection/locks.ts'
import type { Schema } from '../../database/connection/schema.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'

export type EnvScope = { orgId: string; workflowId: string | null }
export type EnvRecord = Pick<Selectable<Schema['env_variables']>, 'workflow_id' | 'key' | 'value_sealed'>
export type EnvEntry = { key: string; workflow_id: string | null; updated_by: string; updated_at: Date }

export async function putEnv(
  db: Db,
  { orgId, workflowId }: EnvScope,
  entry: { key: string; sealed: string; by: string },
): Promise<void> {
  const change = { value_sealed: entry.sealed, updated_by: entry.by, updated_at: new Date() }
  await db
    .insertInto('env_variables')
    .values({ org_id: orgId, workflow_id: workflowId, key: entry.key, ...change })
    .onConflict((conflict) => conflict.columns(['org_id', 'workflow_id', 'key']).doUpdateSet(change))
    .execute()
}

/**
 * Measures the variables of a workflow, or of the organisation. Call it in a transaction: it takes a lock
 * until the commit, so that the result stays true.
 */
export async function measureEnv(
  trx: Db,
  { orgId, workflowId }: EnvScope,
): Promise<{ count: number; bytes: number }> {
  const name = `variables of ${workflowId ?? orgId}`
  await takeNamedLock(trx, name)
  const { rows } = await sql<{ count: number; bytes: number }>`
    select count(*) as count, coalesce(sum(octet_length(value_sealed)), 0)::bigint as bytes from env_variables
    where org_id = ${orgId} and workflow_id is not distinct from ${workflowId}::uuid`.execute(trx)
  return rows[0] ?? { count: 0, bytes: 0 }
}

/** Deletes a variable. Returns false if there is none. */
export async function deleteEnv(db: Db, { orgId, workflowId }: EnvScope, key: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('env_variables')
    .where('org_id', '=', orgId)
    .where('workflow_id', 'is not distinct from', workflowId)
    .where('key', '=', key)
    .executeTakeFirst()
  return numDeletedRows === 1n
}

/** Lists the variables without their values. Those of deleted workflows are left out. */
export async function listEnv(db: Db, orgId: string): Promise<EnvEntry[]> {
  return db
    .selectFrom('env_variables as e')
    .leftJoin('workflows as w', (join) =>
      join.onRef('w.org_id', '=', 'e.org_id').onRef('w.workflow_id', '=', 'e.workflow_id'),
    )
    .select(['e.key', 'e.workflow_id', 'e.updated_by', 'e.updated_at'])
    .where('e.org_id', '=', orgId)
    .where('w.deleted_at', 'is', null)
    .orderBy('e.key')
    .orderBy('e.workflow_id', (by) => by.asc().nullsFirst())
    .execute()
}

/**
 * Lists the variables that a sheet sees, by key: its workflow's own variables override those of the
 * organisation.
 */
export async function listEnvOfSheet(db: Db, sheet: SheetKey): Promise<EnvRecord[]> {
  const { rows } = await sql<EnvRecord>`
    select distinct on (e.key) e.workflow_id, e.key, e.value_sealed from env_variables e
    where ${isSeenBy(sheet)}
    order by e.key, e.workflow_id nulls last`.execute(db)
  return rows
}

/** Lists the variables of the organisation itself, without those of its workflows. */
export async function listEnvOfOrganisation(db: Db, orgId: string): Promise<EnvRecord[]> {
  return db
    .selectFrom('env_variables')
    .select(['workflow_id', 'key', 'value_sealed'])
    .where('org_id', '=', orgId)
    .where('workflow_id', 'is', null)
    .execute()
}

/** Returns a condition: the sheet sees the variable `e`. */
export function isSeenBy({ org_id, sheet_id }: SheetKey): RawBuilder<boolean> {
  return sql`e.org_id = ${org_id} and (e.workflow_id is null or e.workflow_id = (
    select s.workflow_id from sheets s where s.org_id = ${org_id} and s.sheet_id = ${sheet_id}))`
}
