import { addRows, type Call, callOver, makeSheet, type Step } from '#test/builders/sheets.ts'
import type { Installation } from '#test/plumbing/installation.ts'
import { startServer } from '#test/plumbing/server-process.ts'
import { shareOf, takeTurns } from '../parts/in-turns.ts'
import { median } from '../parts/report.ts'
import { HTTP_CALLS } from './engine-calls.ts'
import { held, type Line, line, rate } from './engine-line.ts'
import { makeLoad, runToTheEnd } from './engine-load.ts'

const CREDITS = 10_000_000
/** The bar of each rate, as a share of the rate of `http_api_call` in the same run. */
const BAR = 1 / 3
/** The number of rows of the sheet that lookups search. */
const TARGET_ROWS = 1000

const nameOfRow = (n: number) => `Ada Lovelace ${n}`

/**
 * Measures P20: actions that the program itself carries out, in turns with HTTP calls that are answered at
 * once.
 */
export async function measureBuiltIn(
  installation: Installation,
  { cells, rounds }: { cells: number; rounds: number },
): Promise<Line[]> {
  const outside = await startServer({}, [process.execPath, 'bench/parts/outside-server.ts'])
  const { key } = await installation.makeOrg('Built in', CREDITS)
  const server = await installation.startServer()
  const call = callOver(server.url, key)
  try {
    const steps = await makeBuiltInSteps(call, outside.url)
    const works = Object.fromEntries(
      Object.entries(steps).map(([name, step]) => [name, () => run(call, cells, step)]),
    )
    // This compiles all code that is compiled at run time, as in P1.
    for (const work of Object.values(works)) await work()
    const rates = await takeTurns('P20', rounds, works)
    const calls = rates['http_api_call'] ?? []
    return Object.entries(rates).map(([name, found]) => {
      const share = shareOf(found, calls)
      const bar = name === 'http_api_call' ? {} : held(share, BAR, ' of http_api_call')
      return line('P20', `${name}, ${share.toFixed(2)} of http_api_call`, rate(median(found)), bar)
    })
  } finally {
    await server.stop()
    await outside.stop()
  }
}

/**
 * Returns each action in its most common use: rows of the sheet's own records, one row sent on, one row found
 * by its name.
 */
export async function makeBuiltInSteps(call: Call, outside: string): Promise<Record<string, Step>> {
  const target = await makeSheet(call, ['name'])
  await addRows(call, target, TARGET_ROWS, (n) => ({ name: nameOfRow(n) }))
  const log = await makeSheet(call, ['name'])
  const sheetOf = (base: string) => base.split('/').at(-1)
  return {
    http_api_call: HTTP_CALLS.step(outside),
    records_ingest: {
      action_id: 'records_ingest',
      inputs: {
        source: 'bench',
        entity_kind: 'company',
        identifiers: [{ name: 'external', value: '{{input.name}}' }],
        fields: [{ name: 'name', value: '{{input.name}}' }],
      },
    },
    records_lookup: {
      action_id: 'records_lookup',
      inputs: { lookup_type: 'company', identifier: 'bench:{{input.name}}' },
    },
    send_to_sheet: {
      action_id: 'send_to_sheet',
      inputs: {
        target_sheet_id: sheetOf(log),
        field_mapping: [{ name: 'name', value: '{{input.name}}' }],
      },
    },
    lookup_rows_in_sheet: {
      action_id: 'lookup_rows_in_sheet',
      inputs: {
        target_sheet_id: sheetOf(target),
        conditions: [
          { conditions: [{ variable: '{{input.name}}', operator: 'is', values: ['{{input.name}}'] }] },
        ],
        limit: 1,
      },
    },
    auto_dedupe_rows: { action_id: 'auto_dedupe_rows', inputs: { auto_dedupe_columns: ['name'] } },
    scrape_website: { action_id: 'scrape_website', inputs: { url: `${outside}/page` } },
  }
}

/** Returns the cells per second. */
async function run(call: Call, cells: number, step: Step): Promise<number> {
  const base = await makeLoad(call, cells, [step], nameOfRow)
  return cells / (await runToTheEnd(call, base))
}
