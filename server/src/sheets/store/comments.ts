import { type RawBuilder, sql } from 'kysely'
import { announcing } from '../../database/connection/changes.ts'
import type { Db } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { newId } from '../../lib/ids.ts'
import { livingRows } from './rows.ts'

/**
 * The part of a row that a comment is about: the cell of an action, or a variable. Of an input, `variable` is the path behind the
 * column; of an output, the whole token.
 */
export type CommentPlace = { action: string | null; input_column: number | null; variable: string | null }

export type CommentRecord = CommentPlace & {
  comment_id: string
  row_id: string
  content: string
  mentions: string[]
  author_id: string | null
  author: string
  made_at: Date
  edited_at: Date | null
  resolved_at: Date | null
  resolved_by: string | null
}

const FIELDS = sql.raw(
  'm.comment_id, m.row_id, m.action, m.input_column, m.variable, m.content, m.mentions, m.author_id, m.author, m.made_at, m.edited_at, m.resolved_at, m.resolved_by',
)

export type NewComment = CommentPlace &
  Pick<CommentRecord, 'row_id' | 'content' | 'mentions' | 'author'> & { author_id: string }

/** Adds a comment. Returns undefined if the sheet has no such row. Locks the row, so that it is not deleted meanwhile. */
export async function insertComment(
  trx: Db,
  sheet: SheetKey,
  { row_id, action, input_column, variable, content, mentions, author_id, author }: NewComment,
): Promise<CommentRecord | undefined> {
  const { rows } = await sql<CommentRecord>`
    with row as (
      select r.row_id from rows r where ${livingRows(sheet)} and r.row_id = ${row_id} for key share
    )
    insert into comments as m (org_id, sheet_id, comment_id, row_id, action, input_column, variable, content, mentions, author_id, author)
    select ${sheet.org_id}, ${sheet.sheet_id}, ${newId()}, row_id, ${action}, ${input_column}, ${variable}, ${content}, ${mentions}, ${author_id}, ${author}
    from row returning ${FIELDS}, ${announcing(sheet.sheet_id)}`.execute(trx)
  return rows[0]
}

/** Finds a comment and locks it until the transaction ends. */
export async function lockComment(
  trx: Db,
  sheet: SheetKey,
  commentId: string,
): Promise<CommentRecord | undefined> {
  const { rows } = await sql<CommentRecord>`
    select ${FIELDS} from comments m where ${isOnSheet(sheet)} and m.comment_id = ${commentId} for no key update`.execute(
    trx,
  )
  return rows[0]
}

/** Changes a comment. `resolvedBy`: who resolves it, or null to open it again. */
export async function updateComment(
  trx: Db,
  { org_id, sheet_id }: SheetKey,
  commentId: string,
  {
    text,
    resolvedBy,
  }: { text?: { content: string; mentions: string[] } | undefined; resolvedBy?: string | null },
): Promise<CommentRecord | undefined> {
  const parts: RawBuilder<unknown>[] = []
  if (text !== undefined)
    parts.push(sql`content = ${text.content}, mentions = ${text.mentions}, edited_at = now()`)
  if (resolvedBy === null) parts.push(sql`resolved_at = null, resolved_by = null`)
  else if (resolvedBy !== undefined)
    parts.push(
      sql`resolved_at = coalesce(resolved_at, now()), resolved_by = coalesce(resolved_by, ${resolvedBy})`,
    )
  const { rows } = await sql<CommentRecord>`
    update comments m set ${sql.join(parts)} where m.org_id = ${org_id} and m.comment_id = ${commentId}
    returning ${FIELDS}, ${announcing(sheet_id)}`.execute(trx)
  return rows[0]
}

export async function deleteComment(
  trx: Db,
  { org_id, sheet_id }: SheetKey,
  commentId: string,
): Promise<void> {
  await sql`delete from comments where org_id = ${org_id} and comment_id = ${commentId}
    returning ${announcing(sheet_id)}`.execute(trx)
}

export type CommentFilter = {
  rowId: string | undefined
  resolved: boolean | undefined
  before: string | undefined
}

/** Lists the comments of a sheet or of a row, newest first. */
export async function listComments(
  db: Db,
  sheet: SheetKey,
  { rowId, resolved, before }: CommentFilter,
  limit: number,
): Promise<CommentRecord[]> {
  const conditions = [
    isOnSheet(sheet),
    ...(rowId === undefined ? [] : [sql`m.row_id = ${rowId}`]),
    ...(resolved === undefined ? [] : [sql`(m.resolved_at is not null) = ${resolved}`]),
    ...(before === undefined ? [] : [sql`m.comment_id < ${before}`]),
  ]
  const { rows } = await sql<CommentRecord>`
    select ${FIELDS} from comments m where ${sql.join(conditions, sql` and `)}
    order by m.comment_id desc limit ${sql.lit(limit)}`.execute(db)
  return rows
}

/** The comments of a sheet whose rows were all deleted stay until they are purged. */
const isOnSheet = (sheet: SheetKey) => sql`m.org_id = ${sheet.org_id} and m.sheet_id = ${sheet.sheet_id}
  and exists (select from (select * from rows where org_id = m.org_id and row_id = m.row_id offset 0) r where ${livingRows(sheet)})`

/** Returns the addresses among these of the members who may use a workflow. */
export async function findReaders(
  db: Db,
  { org_id, workflow_id }: { org_id: string; workflow_id: string },
  emails: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ email: string }>`
    select p.email from members p join workflows w on w.org_id = p.org_id and w.workflow_id = ${workflow_id}
    where p.org_id = ${org_id} and p.email = any(${emails}::text[]) and p.role in ('admin', 'member')
      and (p.role = 'admin' or w.owner_id = p.member_id or exists (
        select from workflow_shares s where s.org_id = w.org_id and s.workflow_id = w.workflow_id and s.member_id = p.member_id))`.execute(
    db,
  )
  return new Set(rows.map(({ email }) => email))
}
