import type { QueryConfig } from 'pg'

type Query = (statement: QueryConfig) => Promise<unknown>

/** The inputs and actions of the sheet, in their order. */
export const GRID_INPUTS = [
  { name: 'domain', type: 'string' },
  { name: 'name', type: 'string' },
  { name: 'city', type: 'string' },
  { name: 'employees', type: 'number' },
]
export const GRID_ACTIONS = [
  { action_id: 'normalize_domain', inputs: { value: '{{input.domain}}' } },
  { action_id: 'split_full_name', inputs: { value: '{{input.name}}' } },
  {
    action_id: 'format_data_using_js_expression',
    inputs: { data_formatter: '{{input.city}} + " " + {{input.employees}}' },
  },
]
const CELL_IDS = ['normalize_domain_1', 'split_full_name_1', 'format_data_using_js_expression_1']
const CHUNK = 50_000
const NOBODY = '01890000-0000-7000-8000-000000000001'

/** Writes rows with a result of every action directly into the database, so that the bench starts sooner. */
export async function fillSheet(query: Query, orgId: string, sheetId: string, rows: number): Promise<void> {
  for (let from = 0; from < rows; from += CHUNK) {
    const to = Math.min(rows, from + CHUNK)
    await query({ text: ROWS, values: [orgId, sheetId, from, to] })
    await query({ text: CELLS, values: [orgId, sheetId, from, to, CELL_IDS, NOBODY] })
  }
  await query({ text: COUNTED, values: [orgId, sheetId, rows] })
  await query({ text: 'analyze rows' })
  await query({ text: 'vacuum analyze cells' })
}

// Ids grow with the rows, as the ids of the program do.
const ID = `(lpad(to_hex(1700000000000 + n), 12, '0') || '70008000000000000000')::uuid`

const ROWS = `
  insert into rows (org_id, sheet_id, row_id, seq, data)
  select $1, $2, ${ID}, n + 1, jsonb_build_object('1', 'site' || n || '.example', '2', 'Ann Number' || n,
    '3', (array['Ulm', 'Bonn', 'Kiel', 'Jena'])[n % 4 + 1], '4', n % 5000)
  from generate_series($3::bigint, $4::bigint - 1) as n`

const CELLS = `
  insert into cells (org_id, sheet_id, row_id, action, status, outputs, error, run_id, revision, attempts, credits_millis,
    cached, started_at)
  select $1, $2, ${ID}, action, case when n % 50 = 7 and place = 3 then 'failed' else 'complete' end,
    case when n % 50 = 7 and place = 3 then null
      when place = 1 then jsonb_build_object('domain', 'site' || n || '.example')
      when place = 2 then jsonb_build_object('first', 'Ann', 'last', 'Number' || n)
      else jsonb_build_object('formatted_data', 'Ulm ' || n % 5000) end,
    case when n % 50 = 7 and place = 3 then 'employees is not defined' end, $6, 1, 1, 0, false, now()
  from generate_series($3::bigint, $4::bigint - 1) as n, unnest($5::text[]) with ordinality as t (action, place)`

const COUNTED = `update sheet_counters set next_seq = $3::bigint + 1 where org_id = $1 and sheet_id = $2`
