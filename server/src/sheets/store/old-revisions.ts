import { sql } from 'kysely'
import type { Definition } from '../../catalog/chain/definition.ts'
import type { Db } from '../../database/connection/db.ts'
import { limitSql } from '../../database/connection/limits.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { AppError, tooManyRequests } from '../../lib/errors.ts'

const MIB = 1024 * 1024
/** The largest definition, in bytes of JSON. */
const MAX_DEFINITION = 8 * MIB
/** The stored bytes of a sheet's recent revisions, and of all kept ones. */
const MAX_RECENT = 32 * MIB
const MAX_KEPT = 16 * MIB
/**
 * The time that a revision is kept after it was replaced: a reader needs at most this long between reading the current
 * revision and using or pinning it.
 */
const GRACE_SECONDS = 120

const recent = sql<boolean>`created_at > now() - ${sql.lit(GRACE_SECONDS)} * interval '1 second'`

/**
 * Refuses a revision that is too large, or too many in a short time. Each edit stores the whole definition, and must not fill
 * the disk.
 */
export async function requireRoomForRevision(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  definition: Definition,
): Promise<void> {
  const bytes = Buffer.byteLength(JSON.stringify(definition))
  if (bytes > MAX_DEFINITION) {
    const message = `With this change, inputs and actions of the sheet take ${bytes} bytes, and the limit is ${MAX_DEFINITION}. Shorten texts of actions, or continue in another sheet`
    throw new AppError('Payload Too Large', message)
  }
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(pg_column_size(definition)), 0)::bigint as bytes from chain_revisions
    where org_id = ${org_id} and sheet_id = ${sheet_id} and ${recent}`.execute(db)
  const made = rows[0]?.bytes ?? 0
  if (made <= MAX_RECENT) return
  const message = `Versions of this sheet that were made in the last ${GRACE_SECONDS / 60} minutes take ${made} bytes, and the limit is ${MAX_RECENT}. Wait a moment before the next change`
  throw tooManyRequests(message, GRACE_SECONDS)
}

/**
 * Deletes all but the latest revisions of a sheet, as many as the installation keeps and as fit. Revisions in use stay: those
 * of runs that are running or were stopped within the hour, and those of shortcuts.
 */
export async function forgetRevisions(db: Db, { org_id, sheet_id }: SheetKey): Promise<void> {
  // A list, not a join: without statistics, after many edits in a moment, a join would compare each revision with each.
  await sql`delete from chain_revisions c
    where c.org_id = ${org_id} and c.sheet_id = ${sheet_id} and c.revision = any(array(
        select revision from (
          select revision, row_number() over latest - 1 as newer, sum(pg_column_size(definition)) over latest as bytes,
            coalesce(lag(created_at) over latest, now()) as replaced_at
          from chain_revisions where org_id = ${org_id} and sheet_id = ${sheet_id}
          window latest as (order by revision desc)) old
        where newer > 0 and (newer >= ${limitSql('revisionsKept')} or bytes > ${sql.lit(MAX_KEPT)})
          and replaced_at < now() - ${sql.lit(GRACE_SECONDS)} * interval '1 second'))
      and not exists (select from runs r where r.org_id = ${org_id} and r.sheet_id = ${sheet_id}
        and r.revision = c.revision and r.state = 'running')
      and not exists (select from runs r where r.org_id = ${org_id} and r.sheet_id = ${sheet_id}
        and r.revision = c.revision and r.state = 'stopped' and r.finished_at > now() - interval '1 hour')
      and not exists (select from shortcuts s
        join shortcut_versions v on v.org_id = s.org_id and v.shortcut_id = s.shortcut_id
        where s.org_id = ${org_id} and s.workflow_id = ${sheet_id} and v.revision = c.revision)`.execute(db)
}
