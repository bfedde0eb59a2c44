import type { Flight } from '../flights/flight.ts'
import { withPosition } from './flight-store-fixture.ts'

/** A plain model of what the engine should have stored, which tests keep beside the real engine. */
export type ModelFlight = {
  run: string
  action: string
  status: 'queued' | 'running'
  ticket: number
  attempt: number
  /** The holder of the row: every claim and every parking makes a new token. */
  token: symbol
}

/** The belief of a worker: the real flight, and the token that tells whether the worker is right. */
export type Hand = { flight: Flight; token: symbol }

/** A cell. If it has its former result again, `computed` is the run that computed it. */
export type ModelCell = { status: string; credits: number; run: string; computed?: string }
/** The result that a cell had before the run `by`. */
type Former = { action: string; by: string; cell: ModelCell }

export type Model = {
  credits: number
  charges: number
  rows: Set<string>
  flights: Map<string, ModelFlight>
  cells: Map<string, Map<string, ModelCell>>
  former: Map<string, Former[]>
  /** Rows that were stopped and did not run again. */
  stopped: Set<string>
  runs: Map<string, { actions: string[]; revision: number; stopped: boolean }>
}

export function createModel(rows: string[], credits: number): Model {
  const cells = new Map(rows.map((row) => [row, new Map<string, ModelCell>()]))
  return {
    credits,
    charges: 0,
    rows: new Set(rows),
    flights: new Map(),
    cells,
    former: new Map(),
    stopped: new Set(),
    runs: new Map(),
  }
}

/** Returns the model's flight if the hand is right about it. */
export function flightOf(model: Model, hand: Hand): ModelFlight | undefined {
  const flight = model.flights.get(hand.flight.row.id)
  return flight?.token === hand.token ? flight : undefined
}

export function enqueue(
  model: Model,
  run: { id: string; actions: string[]; revision: number },
  chosen: readonly string[],
): string[] {
  for (const row of chosen) {
    const before = model.flights.get(row)
    if (before !== undefined && model.runs.get(before.run)?.stopped) end(model, row)
  }
  model.runs.set(run.id, { actions: run.actions, revision: run.revision, stopped: false })
  const enqueued = chosen.filter((row) => !model.flights.has(row))
  for (const row of enqueued) {
    model.stopped.delete(row)
    for (const action of run.actions) setAside(model, row, action, run.id)
    const action = run.actions[0] ?? ''
    model.flights.set(row, {
      run: run.id,
      action,
      status: 'queued',
      ticket: -1,
      attempt: 0,
      token: Symbol('enqueued'),
    })
  }
  return enqueued
}

export function stop(model: Model): number {
  const ending = [...model.flights.values()].filter(({ run, action, status }) => {
    const { actions, stopped } = model.runs.get(run) ?? { actions: [], stopped: true }
    return status === 'running' && !stopped && action !== actions.at(-1)
  })
  for (const run of model.runs.values()) run.stopped = true
  const queued = [...model.flights].filter(([, flight]) => flight.status === 'queued')
  for (const [row] of queued) end(model, row)
  return queued.length + ending.length
}

export function remove(model: Model, row: string): void {
  model.rows.delete(row)
  model.flights.delete(row)
  model.cells.delete(row)
  model.former.delete(row)
  model.stopped.delete(row)
}

function setAside(model: Model, row: string, action: string, by: string): void {
  const cell = model.cells.get(row)?.get(action)
  if (cell === undefined) return
  model.cells.get(row)?.delete(action)
  const { computed = cell.run, status, credits } = cell
  const former = model.former.get(row) ?? []
  model.former.set(row, [...former, { action, by, cell: { status, credits, run: computed } }])
}

/** Ends a flight without a result: cells that its run has not computed get their former results back (D84). */
export function end(model: Model, row: string): void {
  const run = model.flights.get(row)?.run
  model.flights.delete(row)
  model.stopped.add(row)
  standAgain(model, row, ({ action, by }) => by === run && model.cells.get(row)?.has(action) === false)
}

function standAgain(model: Model, row: string, stands: (former: Former) => boolean): void {
  const former = model.former.get(row) ?? []
  model.former.set(
    row,
    former.filter((one) => !stands(one)),
  )
  for (const { action, cell } of former.filter(stands)) model.cells.get(row)?.set(action, cell)
}

/** Writes a cell and moves on. */
export function settle(
  model: Model,
  hand: Hand,
  result: { status: string; credits: number; next: string | null },
): Hand | null {
  const flight = flightOf(model, hand)
  if (flight === undefined) return null
  const row_id = hand.flight.row.id
  const { status, credits, next } = result
  const { run, action } = flight
  const former =
    status === 'out_of_credits'
      ? model.former.get(row_id)?.find((one) => one.action === action && one.by === run)?.cell
      : undefined
  if (former?.status === 'complete') {
    standAgain(model, row_id, (one) => one.action === action && one.by === run)
    model.cells.get(row_id)?.set(action, { ...former, run, computed: former.run })
  } else model.cells.get(row_id)?.set(action, { status, credits, run })
  const actions = model.runs.get(run)?.actions ?? []
  if (status === 'out_of_credits' && next === null)
    standAgain(
      model,
      row_id,
      (one) => one.by === run && actions.indexOf(one.action) > actions.indexOf(action),
    )
  model.credits -= credits
  model.charges += credits > 0 ? 1 : 0
  if (next === null) {
    model.flights.delete(row_id)
    return null
  }
  model.flights.set(row_id, { ...flight, action: next })
  return {
    flight: withPosition(hand.flight, { action: next, retries: 0, heldMillis: 0, reservation: null }),
    token: hand.token,
  }
}

const FAILURES = new Set(['failed', 'error', 'out_of_credits'])

/** Returns the status of a row (D19). */
export function rowStatus(model: Model, row: string): string {
  const cells = [...(model.cells.get(row)?.values() ?? [])]
  if (model.flights.has(row)) return 'running'
  if (cells.length === 0) return 'pending'
  return cells.some((cell) => FAILURES.has(cell.status)) ? 'has_failures' : 'complete'
}
