import type { Call, Step } from '#test/builders/sheets.ts'
import type { Installation } from '#test/plumbing/installation.ts'
import { shareOf, takeTurns } from '../parts/in-turns.ts'
import { median, note } from '../parts/report.ts'
import { count, held, type Line, line, rate } from './engine-line.ts'
import { ACTIONS, makeLoad, NO_OP, runToTheEnd, startLoam } from './engine-load.ts'

type Size = { rows: number; rounds: number }

const WARM_UP = 2000

export const FORMULAS: Step[] = [
  '({{input.name}} ?? "").trim().toUpperCase()',
  '{{input.name}}.split("-").length > 3 ? "long" : "short"',
  '{{input.name}}.replaceAll("-", " ").slice(0, 40)',
  '{ first: {{input.name}}.split("-")[0], size: {{input.name}}.length }',
  '`${{{input.name}}.length} letters in ${{{input.name}}}`',
].map((data_formatter) => ({
  action_id: 'format_data_using_js_expression',
  inputs: { data_formatter: data_formatter.startsWith('{ ') ? `(${data_formatter})` : data_formatter },
}))

/** Measures P11: five formulas per row, in turns with five pure actions, which P1 runs. */
export async function measureFormulas(installation: Installation, { rows, rounds }: Size): Promise<Line[]> {
  const { call, stop } = await startLoam(installation)
  const runFormulas = async (size: number) => runToTheEnd(call, await makeLoad(call, size, FORMULAS))
  await runPure(call, WARM_UP)
  await runFormulas(WARM_UP)
  const { formulas, pure } = await takeTurns('P11', rounds, {
    pure: async () => (rows * ACTIONS) / (await runPure(call, rows)),
    formulas: async () => (rows * ACTIONS) / (await runFormulas(rows)),
  })
  await stop()
  const what = `${count(rows)} rows x ${ACTIONS} formulas`
  return compare('P11', { what, rates: formulas }, { what: 'pure actions, as P1', rates: pure })
}

const CACHED_ACTIONS = 3

/** Measures P15: rows whose cells are all in the cache, in turns with P1's rows. */
export async function measureCache(installation: Installation, { rows, rounds }: Size): Promise<Line[]> {
  const { call, stop } = await startLoam(installation)
  const chain: Step[] = Array.from({ length: CACHED_ACTIONS }, () => NO_OP)
  await runPure(call, WARM_UP)
  const base = await makeLoad(call, rows, chain)
  await call('PATCH', base, { cache_enabled: true })
  note(`P15: filling the cache took ${(await runToTheEnd(call, base)).toFixed(1)} s`)
  const pureRows = Math.min(rows, 20_000)
  const { hits, pure } = await takeTurns('P15', rounds, {
    pure: async () => (pureRows * ACTIONS) / (await runPure(call, pureRows)),
    hits: async () => (rows * CACHED_ACTIONS) / (await runToTheEnd(call, base)),
  })
  await stop()
  const what = `${count(rows)} rows x ${CACHED_ACTIONS} actions, all in the cache`
  return compare('P15', { what, rates: hits }, { what: 'pure actions without a cache, as P1', rates: pure })
}

const runPure = async (call: Call, rows: number) => runToTheEnd(call, await makeLoad(call, rows))

type Measured = { what: string; rates: number[] }

function compare(id: string, ours: Measured, pure: Measured): Line[] {
  const share = shareOf(ours.rates, pure.rates)
  const result = `${rate(median(ours.rates))}, ${share.toFixed(2)} of P1`
  return [
    line(id, ours.what, result, held(share, 0.5, ' of P1')),
    line(id, pure.what, rate(median(pure.rates))),
  ]
}
