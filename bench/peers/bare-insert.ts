import { newId } from '#server/lib/ids.ts'

/** Creates a table like that of rows, with the same keys. */
export const CREATE = `create table if not exists bare_rows (
  org_id uuid not null, sheet_id uuid not null, row_id uuid not null, seq bigserial, data jsonb not null,
  primary key (org_id, row_id), unique (org_id, sheet_id, seq))`

/** Inserts all given rows in one statement. */
export const INSERT = `insert into bare_rows (org_id, sheet_id, row_id, data)
  select '00000000-0000-7000-8000-000000000000', '00000000-0000-7000-8000-000000000001', i, d
  from jsonb_to_recordset($1::jsonb) as r (i uuid, d jsonb)`

export function recordsOf(rows: readonly Record<string, string>[]): string {
  return JSON.stringify(rows.map((row) => ({ i: newId(), d: row })))
}
