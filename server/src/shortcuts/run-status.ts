import type { CellStatus } from '#contract/rows.ts'
import type { EndStatus, FieldStatus } from '#contract/shortcuts.ts'
import type { Definition } from '../chain/definition.ts'
import { pickColumn } from '../chain/list-column.ts'
import { parseLossless } from '../lib/json/lossless-json.ts'
import type { ShortcutRunRecord, Trace } from '../store/shortcuts/shortcut-runs.ts'
import { readOutputToken } from './schema.ts'

export type Progress = 'pending' | 'inProgress'
type Field = { value: unknown; status: FieldStatus }
export type Output = Record<string, Field>

/** Where a run is. `away`: its row is not in the air, and not at the end of its chain either. */
export type Judgement =
  | { state: Progress }
  | { state: 'ended'; status: EndStatus; error: string | null; at: Date; output: Output }
  | { state: 'away'; output: Output }

type Run = Pick<ShortcutRunRecord, 'run_id' | 'continue_on_fail' | 'outputs'>

/**
 * What the engine's traces of a row say about a shortcut's run: only those that this run left count. It is completed unless
 * its row halted on a failure (D50).
 */
export function judgeRun(run: Run, definition: Definition, traces: readonly Trace[]): Judgement {
  const own = traces.filter((trace) => trace.run_id === run.run_id)
  const cells = new Map(own.filter((trace) => trace.completed_at !== null).map((cell) => [cell.action, cell]))
  const flight = own.find((trace) => trace.completed_at === null)
  if (flight !== undefined) {
    return { state: flight.untouched && cells.size === 0 ? 'pending' : 'inProgress' }
  }
  const output = outputOf(run, cells)
  const last = definition.actions.findLast((action) => cells.has(action.id))
  const cell = last === undefined ? undefined : cells.get(last.id)
  if (last === undefined || cell === undefined || cell.completed_at === null) return { state: 'away', output }
  const failure = FAILURES[cell.status]
  const mayContinue = last.continue_workflow_if_action_fails ?? run.continue_on_fail
  const halted = failure !== undefined && (failure === 'outOfCredits' || !mayContinue)
  if (halted) return { state: 'ended', status: failure, error: cell.error, at: cell.completed_at, output }
  const walkedThrough = last === definition.actions.at(-1) || cell.status === 'condition_not_met'
  if (!walkedThrough) return { state: 'away', output }
  return { state: 'ended', status: 'completed', error: null, at: cell.completed_at, output }
}

const FAILURES: Partial<Record<CellStatus, Exclude<EndStatus, 'completed'>>> = {
  failed: 'failed',
  error: 'error',
  out_of_credits: 'outOfCredits',
}

/** Each field with the value of its output and a status of its own. */
function outputOf({ outputs }: Run, cells: ReadonlyMap<string, Trace>): Output {
  const values = new Map<string, Record<string, unknown>>()
  const valuesOf = (cell: Trace) => {
    const known = values.get(cell.action) ?? (parseLossless(cell.outputs ?? '{}') as Record<string, unknown>)
    values.set(cell.action, known)
    return known
  }
  return Object.fromEntries(
    outputs.map(({ name, reference }): [string, Field] => {
      const token = readOutputToken(reference)
      const cell = token === undefined ? undefined : cells.get(token.action)
      if (token === undefined || cell === undefined) return [name, { value: null, status: 'skipped' }]
      if (cell.status !== 'complete') return [name, { value: null, status: fieldStatus(cell.status) }]
      const held = valuesOf(cell)
      const value = token.kind === 'output' ? held[token.name] : pickColumn(held[token.list], token.column)
      return [name, { value: value ?? null, status: 'completed' }]
    }),
  )
}

function fieldStatus(status: CellStatus): FieldStatus {
  return FAILURES[status] ?? (status === 'condition_not_met' ? 'conditionNotMet' : 'skipped')
}
