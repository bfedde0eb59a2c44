import { type RawBuilder, sql } from 'kysely'
import { MAX_ROW_BYTES } from '#contract/rows.ts'
import type { Db } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { noteEdited, type RowChange } from './row-edits.ts'

/** The member whose edits of a sheet are meant. */
export type Editor = SheetKey & { member_id: string }

const MAX_EDITS = 100
const MAX_DAYS = 30
/** The largest number of calls that make up one edit. */
const MAX_PARTS = 50
const MIB = 1024 * 1024
/** The bytes that one call may store, and all edits of one member in a sheet. */
const MAX_PART_BYTES = 4 * MIB
const MAX_KEPT_BYTES = 32 * MIB

/** Makes edits of one person in one sheet wait for each other. Call it before locking rows. */
export async function lockEdits(trx: Db, { sheet_id, member_id }: Editor): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${sheet_id} ${member_id}`}, 1))`.execute(trx)
}

/** Stores an edit for undo, after `lockEdits`. Returns null if it is too large and cannot be undone. */
export async function keepEdit(
  trx: Db,
  editor: Editor,
  editId: string | undefined,
  changes: readonly RowChange[],
): Promise<string | null> {
  const part = editId === undefined ? 0 : await nextPart(trx, editor, editId)
  const text = `[${changes.map(({ row_id, was, became }) => `["${row_id}",${was},${became}]`).join(',')}]`
  if (changes.length === 0) return editId ?? null
  if (Buffer.byteLength(text) > MAX_PART_BYTES) return null
  const { org_id, sheet_id, member_id } = editor
  const edit_id = editId ?? newId()
  if (editId === undefined) await forgetUndone(trx, editor)
  await trx
    .insertInto('row_edits')
    .values({ org_id, sheet_id, member_id, edit_id, part, changes: text })
    .execute()
  await deleteOldest(trx, editor)
  return edit_id
}

async function nextPart(trx: Db, { org_id, sheet_id, member_id }: Editor, editId: string): Promise<number> {
  const { rows } = await sql<{ parts: number | null; undone: boolean | null }>`
    select max(part) + 1 as parts, bool_or(undone) as undone from row_edits
    where org_id = ${org_id} and sheet_id = ${sheet_id} and member_id = ${member_id} and edit_id = ${editId}`.execute(
    trx,
  )
  const { parts, undone } = rows[0] ?? { parts: null, undone: null }
  if (parts === null) throw notFound('Edit')
  if (undone === true) throw new AppError('Conflict', 'This edit was undone already; begin another edit')
  if (parts >= MAX_PARTS) {
    throw new AppError('Payload Too Large', `An edit has at most ${MAX_PARTS} parts; begin another edit`)
  }
  return parts
}

/** Deletes undone edits: they cannot be redone after another change. */
async function forgetUndone(trx: Db, { org_id, sheet_id, member_id }: Editor): Promise<void> {
  await sql`delete from row_edits
    where org_id = ${org_id} and sheet_id = ${sheet_id} and member_id = ${member_id} and undone`.execute(trx)
}

async function deleteOldest(trx: Db, { org_id, sheet_id, member_id }: Editor): Promise<void> {
  await sql`
    with kept as (
      select edit_id, sum(pg_column_size(changes)) as bytes from row_edits
      where org_id = ${org_id} and sheet_id = ${sheet_id} and member_id = ${member_id} group by edit_id
    ), ranked as (
      select edit_id, row_number() over latest as nth, sum(bytes) over latest as bytes from kept
      window latest as (order by edit_id desc)
    )
    delete from row_edits e using ranked
    where e.org_id = ${org_id} and e.sheet_id = ${sheet_id} and e.member_id = ${member_id}
      and e.edit_id = ranked.edit_id
      and (ranked.nth > ${sql.lit(MAX_EDITS)} or (ranked.nth > 1 and ranked.bytes > ${sql.lit(MAX_KEPT_BYTES)}))`.execute(
    trx,
  )
}

/** Lists edits, the latest first. */
export async function listEdits(db: Db, { org_id, sheet_id, member_id }: Editor) {
  const { rows } = await sql<{ edit_id: string; undone: boolean; made_at: Date }>`
    select edit_id, bool_or(undone) as undone, min(made_at) as made_at from row_edits
    where org_id = ${org_id} and sheet_id = ${sheet_id} and member_id = ${member_id}
    group by edit_id order by edit_id desc`.execute(db)
  return rows
}

export type UndoneEdit = { changed: RowChange[]; values_left: number }

/**
 * Undoes an edit, or redoes it. Only values that are still as the edit left them change; values that were changed since stay,
 * and are counted. A repeated call changes nothing. Call it after `lockEdits`.
 */
export async function undoOrRedoEdit(
  trx: Db,
  editor: Editor,
  editId: string,
  undone: boolean,
): Promise<UndoneEdit> {
  const { org_id, sheet_id, member_id } = editor
  const ofEdit = sql`org_id = ${org_id} and sheet_id = ${sheet_id} and member_id = ${member_id} and edit_id = ${editId}`
  const { rows: parts } = await sql<{ undone: boolean }>`
    select undone from row_edits where ${ofEdit}`.execute(trx)
  if (parts.length === 0) throw notFound('Edit')
  if (parts.every((part) => part.undone === undone)) return { changed: [], values_left: 0 }
  const [from, to] = undone ? [sql`became`, sql`was`] : [sql`was`, sql`became`]
  const { rows } = await sql<RowChange & { seq: number | null; asked: number; changed: number }>`
    with given as (
      select distinct on (id.row_id) id.row_id, change -> 1 as was, change -> 2 as became
      from row_edits, jsonb_array_elements(changes) as change,
        lateral (select (change ->> 0)::uuid as row_id) id
      where ${ofEdit} order by id.row_id
    ), locked as (
      select r.row_id, r.data from rows r
      where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.row_id in (select row_id from given)
        and r.seq >= (select first_seq from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id})
      order by r.row_id for update
    ), planned as (
      select l.row_id, kept.keys, (l.data - kept.keys) || (
          select coalesce(jsonb_object_agg(key, g.${to} -> key), '{}') from unnest(kept.keys) key where g.${to} ? key
        ) as data
      from given g join locked l on l.row_id = g.row_id, lateral (
        select array(select key from jsonb_object_keys(g.became) key
          where l.data -> key is not distinct from g.${from} -> key) as keys
      ) kept
    ), put as (
      update rows r set data = p.data from planned p
      where r.org_id = ${org_id} and r.row_id = p.row_id and cardinality(p.keys) > 0
        and octet_length(p.data::text) <= ${MAX_ROW_BYTES}
      returning r.row_id, r.seq, p.keys, cardinality(p.keys) as changed
    )
    select g.row_id, put.seq, coalesce(put.changed, 0) as changed, ${valuesOf(from)} as was, ${valuesOf(to)} as became,
      (select count(*)::int from jsonb_object_keys(g.became)) as asked
    from given g left join put on put.row_id = g.row_id`.execute(trx)
  await sql`update row_edits set undone = ${undone} where ${ofEdit}`.execute(trx)
  const changed = rows.flatMap(({ seq, ...row }) => (seq === null ? [] : [{ ...row, seq }]))
  await noteEdited(
    trx,
    editor,
    changed.map(({ seq }) => seq),
  )
  return {
    changed: changed.map(({ row_id, was, became }) => ({ row_id, was, became })),
    values_left: rows.reduce((sum, { asked, changed: done }) => sum + asked - done, 0),
  }
}

/** Selects the changed values of a row, as JSON text by column. */
const valuesOf = (values: RawBuilder<unknown>) =>
  sql`(select coalesce(jsonb_object_agg(key, g.${values} -> key), '{}') from unnest(put.keys) key)::text`

export async function forgetOldEdits(db: Db): Promise<void> {
  await sql`delete from row_edits where made_at < now() - ${sql.lit(MAX_DAYS)} * interval '1 day'`.execute(db)
}
