import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import { takeNamedLock } from '../../database/connection/locks.ts'
import type { Schema } from '../../database/connection/schema.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'

export type ConnectionRecord = Selectable<Schema['connections']>
export type ConnectionEntry = Pick<
  ConnectionRecord,
  'connection_id' | 'provider' | 'name' | 'shared' | 'created_at'
> & { owner: string | null }
export type NewConnection = Omit<
  ConnectionRecord,
  'created_at' | 'token_sealed' | 'token_expires_at' | 'token_claim' | 'token_claimed_until'
>

/** Inserts a connection. Returns false if the organisation has one with this provider and name already. */
export async function insertConnection(db: Db, connection: NewConnection): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('connections')
    .values(connection)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/**
 * Measures the connections of an organisation. Call it in a transaction: it takes a lock until the commit, so
 * that the result stays true.
 */
export async function measureConnections(trx: Db, orgId: string): Promise<{ count: number; bytes: number }> {
  await takeNamedLock(trx, `connections of ${orgId}`)
  const { rows } = await sql<{ count: number; bytes: number }>`
    select count(*) as count, coalesce(sum(octet_length(fields_sealed)), 0)::bigint as bytes from connections
    where org_id = ${orgId}`.execute(trx)
  return rows[0] ?? { count: 0, bytes: 0 }
}

export async function findConnection(db: Db, connectionId: string): Promise<ConnectionRecord | undefined> {
  return db.selectFrom('connections').selectAll().where('connection_id', '=', connectionId).executeTakeFirst()
}

/** Lists connections without their secrets, by provider, oldest first. */
export async function listConnections(db: Db, orgId: string): Promise<ConnectionEntry[]> {
  return db
    .selectFrom('connections as c')
    .leftJoin('members as m', (join) =>
      join.onRef('m.org_id', '=', 'c.org_id').onRef('m.member_id', '=', 'c.owner_id'),
    )
    .select(['c.connection_id', 'c.provider', 'c.name', 'c.shared', 'c.created_at', 'm.email as owner'])
    .where('c.org_id', '=', orgId)
    .orderBy('c.provider')
    .orderBy('c.connection_id')
    .execute()
}

/**
 * Lists the connections that a sheet may use: shared ones, and those of its workflow's owner. Oldest first.
 */
export async function listConnectionsOfSheet(db: Db, sheet: SheetKey): Promise<ConnectionRecord[]> {
  const { rows } = await sql<ConnectionRecord>`
    select c.* from connections c where ${isUsableBy(sheet)} order by c.connection_id`.execute(db)
  return rows
}

/**
 * Lists the connections that a member may use: shared ones and the member's own. Without a member only the
 * shared ones. Oldest first.
 */
export async function listConnectionsOfMember(
  db: Db,
  { org_id, member_id }: { org_id: string; member_id: string | null },
): Promise<ConnectionRecord[]> {
  const { rows } = await sql<ConnectionRecord>`
    select c.* from connections c where c.org_id = ${org_id} and (c.shared or c.owner_id = ${member_id}::uuid)
    order by c.connection_id`.execute(db)
  return rows
}

/** Lists the provider of each connection that a member may use: shared ones and the member's own. */
export async function listConnectedProviders(
  db: Db,
  { org_id, member_id }: { org_id: string; member_id: string },
): Promise<string[]> {
  const { rows } = await sql<{ provider: string }>`
    select c.provider from connections c
    where c.org_id = ${org_id} and (c.shared or c.owner_id = ${member_id}::uuid)`.execute(db)
  return rows.map(({ provider }) => provider)
}

/** Returns a condition: the sheet may use the connection `c`. */
export function isUsableBy({ org_id, sheet_id }: SheetKey): RawBuilder<boolean> {
  return sql`c.org_id = ${org_id} and (c.shared or c.owner_id = (
    select w.owner_id from sheets s join workflows w on w.org_id = s.org_id and w.workflow_id = s.workflow_id
    where s.org_id = ${org_id} and s.sheet_id = ${sheet_id}))`
}

export async function deleteConnection(db: Db, orgId: string, connectionId: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('connections')
    .where('org_id', '=', orgId)
    .where('connection_id', '=', connectionId)
    .executeTakeFirst()
  return numDeletedRows === 1n
}

export async function deleteConnectionsOfMember(db: Db, orgId: string, memberId: string): Promise<string[]> {
  const deleted = await db
    .deleteFrom('connections')
    .where('org_id', '=', orgId)
    .where('owner_id', '=', memberId)
    .returning('connection_id')
    .execute()
  return deleted.map(({ connection_id }) => connection_id)
}

type Named = Pick<ConnectionRecord, 'org_id' | 'connection_id'>

/**
 * Claims the right to create a token for some seconds. Returns undefined if another process has it, or the
 * connection is deleted. No lock is held, and the claim of a crashed process ends by itself.
 */
export async function claimToken(
  db: Db,
  { org_id, connection_id }: Named,
  { claim, seconds }: { claim: string; seconds: number },
): Promise<ConnectionRecord | undefined> {
  return db
    .updateTable('connections')
    .set({ token_claim: claim, token_claimed_until: sql`now() + make_interval(secs => ${seconds})` })
    .where('org_id', '=', org_id)
    .where('connection_id', '=', connection_id)
    .where(sql<boolean>`(token_claimed_until is null or token_claimed_until < now())`)
    .returningAll()
    .executeTakeFirst()
}

export async function releaseToken(db: Db, { org_id, connection_id }: Named, claim: string): Promise<void> {
  await db
    .updateTable('connections')
    .set({ token_claim: null, token_claimed_until: null })
    .where('org_id', '=', org_id)
    .where('connection_id', '=', connection_id)
    .where('token_claim', '=', claim)
    .execute()
}

/**
 * Stores a token that was created from the record `from`. Returns false if another token was stored since:
 * that one stays.
 */
export async function storeToken(
  db: Db,
  from: Pick<ConnectionRecord, 'org_id' | 'connection_id' | 'fields_sealed' | 'token_sealed'>,
  change: { token_sealed: string; token_expires_at: Date; fields_sealed?: string },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('connections')
    .set({ ...change, token_claim: null, token_claimed_until: null })
    .where('org_id', '=', from.org_id)
    .where('connection_id', '=', from.connection_id)
    .where('fields_sealed', '=', from.fields_sealed)
    .where('token_sealed', 'is not distinct from', from.token_sealed)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/**
 * Lists the workflows that only `memberId` gives a connection: they use an own key in a waterfall and no
 * other connection is left, or they name one of the member's connections.
 */
export async function listWorkflowsRelyingOn(
  db: Db,
  orgId: string,
  memberId: string,
): Promise<{ workflow_id: string; name: string }[]> {
  const { rows } = await sql<{ workflow_id: string; name: string }>`
    select distinct w.workflow_id, w.name
    from connections c
    join workflows w on w.org_id = c.org_id and w.deleted_at is null and (c.shared or w.owner_id = c.owner_id)
    join sheets s on s.org_id = w.org_id and s.workflow_id = w.workflow_id and s.deleted_at is null
    join chain_revisions r on r.org_id = s.org_id and r.sheet_id = s.sheet_id and r.revision = s.revision
    where c.org_id = ${orgId} and c.owner_id = ${memberId} and (
      jsonb_path_exists(r.definition, '$.actions[*].inputs.connection ? (@ == $id || @ == $name)',
        jsonb_build_object('id', c.connection_id, 'name', c.name))
      or (jsonb_path_exists(r.definition, '$.actions[*].inputs.*[*] ? (@.provider == $provider && @.own_key == true)',
          jsonb_build_object('provider', c.provider))
        and not exists (
          select from connections other where other.org_id = c.org_id and other.provider = c.provider
            and other.owner_id is distinct from c.owner_id and (other.shared or other.owner_id = w.owner_id))))
    order by w.workflow_id`.execute(db)
  return rows
}

/**
 * Lists the workflows that name a connection, or use an own key of its provider that may be this connection;
 * for all connections.
 */
export async function listConnectionUses(
  db: Db,
  orgId: string,
): Promise<{ connection_id: string; workflow_id: string; name: string; owner_id: string | null }[]> {
  const { rows } = await sql<{
    connection_id: string
    workflow_id: string
    name: string
    owner_id: string | null
  }>`
    select distinct c.connection_id, w.workflow_id, w.name, w.owner_id
    from connections c
    join workflows w on w.org_id = c.org_id and w.deleted_at is null and (c.shared or w.owner_id = c.owner_id)
    join sheets s on s.org_id = w.org_id and s.workflow_id = w.workflow_id and s.deleted_at is null
    join chain_revisions r on r.org_id = s.org_id and r.sheet_id = s.sheet_id and r.revision = s.revision
    where c.org_id = ${orgId} and (
      jsonb_path_exists(r.definition, '$.actions[*].inputs.connection ? (@ == $id || @ == $name)',
        jsonb_build_object('id', c.connection_id, 'name', c.name))
      or jsonb_path_exists(r.definition, '$.actions[*].inputs.*[*] ? (@.provider == $provider && @.own_key == true)',
        jsonb_build_object('provider', c.provider)))
    order by w.name, w.workflow_id`.execute(db)
  return rows
}
