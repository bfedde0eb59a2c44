import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'

/** A column of sealed values, with the columns that each value is bound to. */
export type SealedColumn = { table: string; column: string; boundTo: readonly string[] }

/** A sealed value. `at` is the place of its row in the table, which changes with every update. */
export type SealedValue = { at: string; sealed: string; bound: Record<string, string | null> }

/** Lists the places of all values, or of those sealed with a key other than `notBy`. */
export async function listSealedPlaces(
  db: Db,
  { table, column }: SealedColumn,
  { notBy }: { notBy?: string } = {},
): Promise<string[]> {
  const sealed = sql.ref(column)
  const { rows } = await sql<{ at: string }>`
    select ctid::text as at from ${sql.table(table)}
    where ${sealed} is not null and (${notBy ?? null}::text is null or split_part(${sealed}, '.', 2) <> ${notBy ?? null})`.execute(
    db,
  )
  return rows.map(({ at }) => at)
}

export async function readSealed(
  db: Db,
  { table, column, boundTo }: SealedColumn,
  places: readonly string[],
): Promise<SealedValue[]> {
  const bound = sql.join(boundTo.flatMap((name) => [sql.lit(name), sql.ref(name)]))
  const { rows } = await sql<SealedValue>`
    select ctid::text as at, ${sql.ref(column)} as sealed, json_build_object(${bound}) as bound
    from ${sql.table(table)} where ctid = any(${places}::tid[]) and ${sql.ref(column)} is not null`.execute(
    db,
  )
  return rows
}

/**
 * Replaces values that have not changed. Returns the number replaced. It waits for no lock, so it cannot
 * deadlock: a row that somebody else is changing is left for another pass.
 */
export async function replaceSealed(
  db: Db,
  { table, column }: SealedColumn,
  changes: readonly { at: string; from: string; to: string }[],
): Promise<number> {
  const sealed = sql.ref(`t.${column}`)
  const { numAffectedRows } = await sql`
    with changes as (
      select * from unnest(${changes.map(({ at }) => at)}::tid[], ${changes.map(({ from }) => from)}::text[],
        ${changes.map(({ to }) => to)}::text[]) as c (at, old, new)
    ), free as materialized (
      select t.ctid as at, ${sealed} as old from ${sql.table(table)} t where t.ctid = any(array(select at from changes))
      for no key update skip locked
    )
    update ${sql.table(table)} t set ${sql.ref(column)} = c.new from changes c join free f on f.at = c.at and f.old = c.old
    where t.ctid = f.at`.execute(db)
  return Number(numAffectedRows ?? 0n)
}
