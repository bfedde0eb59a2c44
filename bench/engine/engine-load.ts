import { addRows, type Call, callOver, makeSheet, runAll, type Step } from '#test/builders/sheets.ts'
import type { Installation } from '#test/plumbing/installation.ts'
import { nameOf } from '../peers/peer.ts'

export const ACTIONS = 5

/** An action that calls nobody outside. */
export const NO_OP: Step = { action_id: 'split_full_name', inputs: { value: '{{input.name}}' } }

/** An action whose cells are each durable before the next begins. */
export const NOT_PURE: Step = { action_id: 'delay_step', inputs: { time: '0' } }
/** Actions of which none is written together with the next one. */
export const SETTLED_ONE_BY_ONE: Step[] = [NO_OP, NOT_PURE, NO_OP, NOT_PURE, NO_OP]

/**
 * Creates a sheet with rows that have never run. It has five actions that call nobody outside, or the actions
 * of `chain`.
 */
export async function makeLoad(
  call: Call,
  rows: number,
  chain: Step[] = Array.from({ length: ACTIONS }, () => NO_OP),
  nameOfRow: (n: number) => string = nameOf,
): Promise<string> {
  const base = await makeSheet(call, ['name'], chain)
  await addRows(call, base, rows, (n) => ({ name: nameOfRow(n) }), 4)
  return base
}

/**
 * Runs all rows of a sheet and returns the seconds. No cell may fail, because a failed cell costs less than a
 * finished one.
 */
export async function runToTheEnd(call: Call, base: string): Promise<number> {
  const seconds = await runAll(call, base, 100)
  const [run] = (await call('GET', `${base}/runs`)).data as { cells_failed: number }[]
  if (run?.cells_failed !== 0) {
    const { data } = await call('POST', `${base}/rows/list`, { page_size: 1 })
    throw new Error(`${run?.cells_failed} cells failed; the first row: ${JSON.stringify(data.rows[0])}`)
  }
  return seconds
}

/** Starts a process as `npm start` does, and creates the key of an organisation on it. */
export async function startLoam(installation: Installation, credits = 0) {
  const { key } = await installation.makeOrg('Bench', credits)
  const server = await installation.startServer()
  return { server, key, call: callOver(server.url, key), stop: () => server.stop() }
}
