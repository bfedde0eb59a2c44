import { type Call } from '#test/builders/sheets.ts'
import { type Exchange, isGood, type Wanted } from '../load/load.ts'
import { check, say } from './installation.ts'

type Adding = { rows: { name: string }[]; run_after_add: 'all' | 'none' }
const PAGE_SIZE = 200

/** Creates calls of Add Rows in which every row has a unique name. */
export function createAddCalls(
  sheet: string,
  rowsPerCall: number,
  run_after_add: Adding['run_after_add'] = 'all',
): () => Wanted {
  let next = 0
  return () => {
    const rows = Array.from({ length: rowsPerCall }, () => ({ name: `row ${next++}` }))
    const body: Adding = { rows, run_after_add }
    return { path: `${sheet}/rows`, body }
  }
}

/** Lists every row of a sheet with the state of its cells, page by page. */
export async function listRows(call: Call, sheet: string): Promise<{ name: string; status: string }[]> {
  const found: { name: string; status: string }[] = []
  for (let page_no = 1; ; page_no += 1) {
    const { data } = await call('POST', `${sheet}/rows/list`, { page_no, page_size: PAGE_SIZE })
    for (const { inputs, row_status } of data.rows) found.push({ name: inputs.name, status: row_status })
    if (found.length >= data.total_count || data.rows.length === 0) return found
  }
}

/** Checks that all rows of calls that were answered with 2xx exist, and none of them twice. */
export async function checkAcknowledged(
  call: Call,
  sheet: string,
  exchanges: readonly Exchange[],
): Promise<void> {
  const adds = exchanges.filter(({ wanted }) => wanted.path === `${sheet}/rows`)
  const namesOf = (one: Exchange) => (one.wanted.body as Adding).rows.map((row) => row.name)
  const acknowledged = adds.filter(isGood).flatMap(namesOf)
  const stored = (await listRows(call, sheet)).map((row) => row.name)
  const known = new Set(stored)
  say(
    `${acknowledged.length} rows were acknowledged in ${adds.length} calls of Add Rows; ${stored.length} are there`,
  )
  check('rows that were acknowledged', acknowledged.length > 0, true)
  check('acknowledged rows that are lost', acknowledged.filter((name) => !known.has(name)).length, 0)
  check('rows that are there twice', stored.length - known.size, 0)
}

/** Prints the outcomes of requests, one line for each kind. */
export function sayOutcomes(exchanges: readonly Exchange[]): void {
  for (const [outcome, all] of Map.groupBy(exchanges, (one) => String(one.status ?? one.failure)))
    say(`  ${all.length} x ${outcome}`)
}
