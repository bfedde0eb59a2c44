import { z } from 'zod'
import type { EndStatus, ShortcutRun } from '#contract/shortcuts.ts'
import type { Definition } from '../catalog/chain/definition.ts'
import type { Db, Store } from '../database/connection/db.ts'
import { defineJob, type Job } from '../lib/job.ts'
import { getDefinition } from '../sheets/store/definitions.ts'
import { nameFormFields } from './form-fields.ts'
import { FAILURES, buildOutput, type RunOutput } from './run-output.ts'
import {
  findRunStates,
  listFinishedRuns,
  listRunsByIds,
  listTraces,
  recordRunEnds,
  type ShortcutEnd,
  type ShortcutRunRecord,
  type Trace,
} from './store/shortcut-runs.ts'
import { type Progress, viewShortcutRun } from './view.ts'

/**
 * Returns runs in the form of the API. For runs without a recorded end the engine is asked, and an end that
 * is found is recorded for good, so that later changes of the row do not change it.
 */
export async function readShortcutRuns(
  db: Db,
  orgId: string,
  runs: readonly ShortcutRunRecord[],
): Promise<ShortcutRun[]> {
  const { ends, progress } = await checkOpenRuns(db, orgId, runs)
  await recordRunEnds(db, orgId, ends)
  const ended = await listRunsByIds(
    db,
    orgId,
    ends.map((end) => end.id),
  )
  const latest = new Map(ended.map((run) => [run.shortcut_run_id, run]))
  return runs.map((run) =>
    viewShortcutRun(
      latest.get(run.shortcut_run_id) ?? run,
      progress.get(run.shortcut_run_id) ?? 'inProgress',
    ),
  )
}

const CHUNK = 200

/** Records the ends of runs whose rows have finished: of all runs, or of those in one run of the engine. */
export async function recordFinishedRuns(db: Db, run?: { orgId: string; runId: string }): Promise<void> {
  let last: ShortcutRunRecord | undefined
  for (;;) {
    const finished = await listFinishedRuns(db, CHUNK, last, run)
    for (const [orgId, runs] of Map.groupBy(finished, (one) => one.org_id)) {
      const { ends } = await checkOpenRuns(db, orgId, runs)
      await recordRunEnds(db, orgId, ends)
    }
    last = finished.at(-1)
    if (finished.length < CHUNK) return
  }
}

type RunStatuses = { ends: ShortcutEnd[]; progress: Map<string, Progress> }
type Unfinished = { run: ShortcutRunRecord; output: RunOutput }

async function checkOpenRuns(
  db: Db,
  orgId: string,
  runs: readonly ShortcutRunRecord[],
): Promise<RunStatuses> {
  const open = runs.filter((run) => run.status === null)
  const found: RunStatuses = { ends: [], progress: new Map() }
  if (open.length === 0) return found
  const traces = await listTraces(
    db,
    orgId,
    open.map((run) => run.row_id),
  )
  const byRow = Map.groupBy(traces, (trace) => trace.row_id)
  const unfinished: Unfinished[] = []
  for (const run of open) {
    const definition = await getDefinition(db, { ...run, sheet_id: run.workflow_id })
    const status = statusFromTraces(run, definition, byRow.get(run.row_id) ?? [])
    const id = run.shortcut_run_id
    if (status.state === 'ended') found.ends.push({ id, ...status })
    else if (status.state === 'unfinished') unfinished.push({ run, output: status.output })
    else found.progress.set(id, status.state)
  }
  await checkUnfinished(db, orgId, unfinished, found)
  return found
}

/**
 * Checks rows that are neither in flight nor finished: they were stopped, or their run has not started them
 * yet.
 */
async function checkUnfinished(
  db: Db,
  orgId: string,
  unfinished: readonly Unfinished[],
  { ends, progress }: RunStatuses,
): Promise<void> {
  if (unfinished.length === 0) return
  const { states, existingRows } = await findRunStates(
    db,
    orgId,
    unfinished.map(({ run }) => run),
  )
  for (const { run, output } of unfinished) {
    const id = run.shortcut_run_id
    const error = explainEarlyEnd(states.get(run.run_id), existingRows.has(run.row_id))
    if (error === null) progress.set(id, 'inProgress')
    else ends.push({ id, status: 'error', error, at: new Date(), output })
  }
}

function explainEarlyEnd(state: string | undefined, rowExists: boolean): string | null {
  if (state === 'stopped') return 'The run was stopped before it ended'
  if (!rowExists) return 'The row of this run was deleted before its result was recorded'
  return state === 'running' ? null : 'The row of this run was run again before its result was recorded'
}

/**
 * The status of a run by its traces. `unfinished`: the row is neither in flight nor at the end of its chain.
 */
export type TracedStatus =
  | { state: Progress }
  | { state: 'ended'; status: EndStatus; error: string | null; at: Date; output: RunOutput }
  | { state: 'unfinished'; output: RunOutput }

type Run = Pick<ShortcutRunRecord, 'run_id' | 'continue_on_fail' | 'inputs' | 'outputs'>

/**
 * Derives the status of a shortcut's run from the engine's traces of its row. Only traces of this run count.
 * The run is completed unless its row halted on a failure (D50).
 */
export function statusFromTraces(run: Run, definition: Definition, traces: readonly Trace[]): TracedStatus {
  const own = traces.filter((trace) => trace.run_id === run.run_id)
  const cells = new Map(own.filter((trace) => trace.completed_at !== null).map((cell) => [cell.action, cell]))
  const flight = own.find((trace) => trace.completed_at === null)
  if (flight !== undefined) {
    return { state: flight.untouched && cells.size === 0 ? 'pending' : 'inProgress' }
  }
  const output = buildOutput(run.outputs, cells)
  const last = definition.actions.findLast((action) => cells.has(action.id))
  const cell = last === undefined ? undefined : cells.get(last.id)
  if (last === undefined || cell === undefined || cell.completed_at === null) {
    return { state: 'unfinished', output }
  }
  const failure = FAILURES[cell.status]
  const mayContinue = last.continue_workflow_if_action_fails ?? run.continue_on_fail
  const halted = failure !== undefined && (failure === 'outOfCredits' || !mayContinue)
  if (halted) {
    const error = nameFormFields(cell.error, last, definition, run.inputs)
    return { state: 'ended', status: failure, error, at: cell.completed_at, output }
  }
  const isFinished = last === definition.actions.at(-1) || cell.status === 'condition_not_met'
  if (!isFinished) return { state: 'unfinished', output }
  return { state: 'ended', status: 'completed', error: null, at: cell.completed_at, output }
}

/** Records the ends of runs that nobody has read, before their rows are deleted or run again. */
export function shortcutSweep(store: Store): Job {
  return defineJob({
    name: 'shortcut_sweep',
    cron: '* * * * *',
    payload: z.unknown(),
    run: () => recordFinishedRuns(store.system),
  })
}
