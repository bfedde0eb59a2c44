import type { Store } from '#server/database/connection/db.ts'
import { type Call, makeSheet } from './sheets.ts'

const INPUTS = ['company', 'domain', 'industry', 'employees', 'note']
export const OUTPUTS = ['first', 'last', 'middle', 'prefix', 'suffix']
export const ACTION = 'split_full_name_1'

export type LargeSheet = { base: string; orgId: string; sheetId: string }

/** `unrun` lists additional actions that no row has run. */
type LargeSheetOptions = {
  analysed?: boolean
  unrun?: { action_id: string; inputs: Record<string, unknown> }[]
}

/**
 * Creates a sheet of five inputs and one action of five outputs, with complete rows. PostgreSQL itself writes
 * the rows, to save time.
 */
export async function makeLargeSheet(
  store: Store,
  call: Call,
  orgId: string,
  rows: number,
  { analysed = true, unrun = [] }: LargeSheetOptions = {},
): Promise<LargeSheet> {
  const step = { action_id: 'split_full_name', inputs: { value: '{{input.company}}' } }
  const base = await makeSheet(call, INPUTS, [step, ...unrun])
  const sheetId = base.split('/')[2] ?? ''
  const run = (text: string, values: unknown[]) => store.query({ text: `/* large sheet */ ${text}`, values })
  const chunk = 100_000
  for (let from = 0; from < rows; from += chunk) {
    const to = Math.min(rows, from + chunk)
    await run(ROWS, [orgId, sheetId, from + 1, to])
    await run(CELLS, [orgId, sheetId, from + 1, to, ACTION])
  }
  await run('update sheet_counters set next_seq = $3 where org_id = $1 and sheet_id = $2', [
    orgId,
    sheetId,
    rows + 1,
  ])
  if (!analysed) return { base, orgId, sheetId }
  for (const table of ['rows', 'cells', 'sheet_counters']) await run(`analyze ${table}`, [])
  return { base, orgId, sheetId }
}

/** Ids of version 7 that grow with the number of the row. */
const ROWS = `
insert into rows (org_id, sheet_id, row_id, seq, data)
select $1, $2, (lpad(to_hex(n + 1700000000000), 12, '0') || '7' || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid,
  n,
  jsonb_build_object('1', 'Company ' || n, '2', 'company-' || n || '.example.com',
    '3', (array['software', 'retail', 'energy', 'health'])[n % 4 + 1], '4', (n * 7919 % 10000)::text,
    '5', 'A line of text about row ' || n || ' that is as long as such lines are')
from generate_series($3::bigint, $4::bigint) n`

const CELLS = `
insert into cells (org_id, sheet_id, row_id, action, status, outputs, run_id, revision, attempts, credits_millis, cached,
  started_at)
select org_id, sheet_id, row_id, $5, 'complete', jsonb_build_object('first', 'Ada' || seq, 'last', 'Lovelace, Countess of',
  'middle', 'Augusta', 'prefix', null, 'suffix', 'III'), row_id, 2, 1, 0, false, now()
from rows where org_id = $1 and sheet_id = $2 and seq between $3 and $4`
