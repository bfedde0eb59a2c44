import { beforeAll, describe, expect, it } from 'vitest'
import { openStore, type Store } from '#server/database/connection/db.ts'
import { createLog } from '#server/lib/log.ts'
import { makeLargeSheet } from '#test/builders/large-sheet.ts'
import type { Call } from '#test/builders/sheets.ts'
import { atEnd } from '#test/plumbing/at-end.ts'
import { makeApp, type TestApp } from '#test/plumbing/harness.ts'
import { CLAIM_CELLS } from './claim-cells.ts'
import { CLAIM } from './claim.ts'
import { FIND_HITS } from './find-hits.ts'
import { PEEK } from './peek.ts'
import { SETTLE } from './settle.ts'

const ROWS = 3000
const STATEMENTS: [string, string][] = [
  ['peeks', PEEK.text],
  ['claims', CLAIM.text],
  ...Object.values(SETTLE).map(({ name, text }): [string, string] => [name, text]),
]

/** A scan of a whole table of which an installation has many records. */
const LARGE_SCAN =
  /Seq Scan on (flights|rows|cells|former_cells|cell_cache|cell_claims|runs|run_tallies|purse_shares)\b/
const SCAN = /(?:Scan|Scan using (\w+)) on (flights|rows|cells)\b/

/** Returns how a plan reads the tables of rows: for each the index, and the columns it is looked up by. */
function lookupsIn(plan: readonly string[]): string[] {
  return plan.flatMap((line, n) => {
    const [, index = 'no index', table] = SCAN.exec(line) ?? []
    if (table === undefined) return []
    const columns = ['org_id', 'row_id'].filter((column) => plan[n + 1]?.includes(`(${column} = `))
    return [`${index}: ${columns.join(', ')}`]
  })
}

// A plan is made when its statement is first sent, and kept: whatever the tables hold then, it may read a million rows
// later. If flights were counted as none, they are counted again before there are many (sweeps.ts).
describe('a batch finds flights, rows, cells and answers by the whole of their keys', () => {
  let app: TestApp
  let engine: Store

  beforeAll(async () => {
    app = await makeApp()
    // Opened as the engine's own store is.
    engine = openStore({ url: app.databaseUrl, log: createLog('silent'), keyedPlans: true })
    atEnd(() => engine.close())
  })

  async function fill(): Promise<void> {
    const org = await app.makeOrg()
    const call: Call = async (method, path, body) => (await org.call(method, path, body)).body
    await makeLargeSheet(app.store, call, org.orgId, ROWS, { analysed: false })
    await app.store.query({
      text: `insert into flights (org_id, sheet_id, row_id, run_id, status)
        select org_id, sheet_id, row_id, gen_random_uuid(), 'queued' from rows where org_id = $1`,
      values: [org.orgId],
    })
  }
  const count = async () => {
    for (const table of ['flights', 'rows', 'cells'])
      await app.store.query({ text: `vacuum analyze ${table}` })
  }

  it.each<[string, () => Promise<void>]>([
    ['that were never counted', async () => {}],
    ['many, counted as none', fill],
    ['many, counted', count],
    ['those of another organisation, counted as none', fill],
    [
      'rows and cells of many flights that are gone',
      async () => void (await app.store.query({ text: 'delete from flights' })),
    ],
  ])('%s', async (_, prepare) => {
    await prepare()
    const explain = async (statement: string) => {
      const text = `explain (generic_plan, costs off) ${statement}`
      return (await engine.query<{ 'QUERY PLAN': string }>({ text })).map((row) => row['QUERY PLAN'])
    }
    for (const [name, text] of STATEMENTS) {
      const plan = await explain(text)
      const lookups = lookupsIn(plan)
      expect(lookups.length, name).toBeGreaterThan(0)
      for (const lookup of lookups)
        expect(lookup, `${name}\n${plan.join('\n')}`).toMatch(/^(flights|rows|cells)_pkey: org_id, row_id$/)
      expect(
        plan.filter((line) => LARGE_SCAN.test(line)),
        `${name}\n${plan.join('\n')}`,
      ).toEqual([])
    }
    for (const text of [FIND_HITS, CLAIM_CELLS]) {
      const plan = await explain(text)
      const found = plan.findIndex((line) => line.includes('Index Scan using cell_cache_pkey on cell_cache'))
      for (const column of ['org_id', 'sheet_id', 'key', 'action', 'epoch'])
        expect(plan[found + 1], plan.join('\n')).toContain(`(${column} = `)
    }
  })
})
