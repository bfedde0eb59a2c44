import type { ShortcutRun } from '#contract/shortcuts.ts'
import type { Db } from '../store/connection/db.ts'
import { getDefinition } from '../store/sheets/definitions.ts'
import {
  findWhereabouts,
  listLandedRuns,
  listRunsByIds,
  listTraces,
  settleShortcutRuns,
  type ShortcutEnd,
  type ShortcutRunRecord,
} from '../store/shortcuts/shortcut-runs.ts'
import { judgeRun, type Output, type Progress } from './run-status.ts'
import { viewShortcutRun } from './view.ts'

/**
 * Runs as callers see them: those that have not ended are looked up in the engine, and what has ended by now is written down
 * for good, so that nothing that becomes of the row later changes it.
 */
export async function readShortcutRuns(
  db: Db,
  orgId: string,
  runs: readonly ShortcutRunRecord[],
): Promise<ShortcutRun[]> {
  const { ends, progress } = await judgeOpen(db, orgId, runs)
  await settleShortcutRuns(db, orgId, ends)
  const settled = await listRunsByIds(
    db,
    orgId,
    ends.map((end) => end.id),
  )
  const latest = new Map(settled.map((run) => [run.shortcut_run_id, run]))
  return runs.map((run) =>
    viewShortcutRun(
      latest.get(run.shortcut_run_id) ?? run,
      progress.get(run.shortcut_run_id) ?? 'inProgress',
    ),
  )
}

const CHUNK = 200

/** Settles runs whose rows are out of the air, all of them or those of one run of the engine. */
export async function settleLandedRuns(db: Db, of?: { orgId: string; runId: string }): Promise<void> {
  let last: ShortcutRunRecord | undefined
  for (;;) {
    const landed = await listLandedRuns(db, CHUNK, last, of)
    for (const [orgId, runs] of Map.groupBy(landed, (run) => run.org_id)) {
      const { ends } = await judgeOpen(db, orgId, runs)
      await settleShortcutRuns(db, orgId, ends)
    }
    last = landed.at(-1)
    if (landed.length < CHUNK) return
  }
}

type Judged = { ends: ShortcutEnd[]; progress: Map<string, Progress> }

async function judgeOpen(db: Db, orgId: string, runs: readonly ShortcutRunRecord[]): Promise<Judged> {
  const open = runs.filter((run) => run.status === null)
  const judged: Judged = { ends: [], progress: new Map() }
  if (open.length === 0) return judged
  const traces = await listTraces(
    db,
    orgId,
    open.map((run) => run.row_id),
  )
  const byRow = Map.groupBy(traces, (trace) => trace.row_id)
  const away: { run: ShortcutRunRecord; output: Output }[] = []
  for (const run of open) {
    const definition = await getDefinition(db, { ...run, sheet_id: run.workflow_id })
    const judgement = judgeRun(run, definition, byRow.get(run.row_id) ?? [])
    const id = run.shortcut_run_id
    if (judgement.state === 'ended') judged.ends.push({ id, ...judgement })
    else if (judgement.state === 'away') away.push({ run, output: judgement.output })
    else judged.progress.set(id, judgement.state)
  }
  await judgeAway(db, orgId, away, judged)
  return judged
}

/** Rows that are neither in the air nor at the end of their chain: cut off, or not taken up yet. */
async function judgeAway(
  db: Db,
  orgId: string,
  away: readonly { run: ShortcutRunRecord; output: Output }[],
  { ends, progress }: Judged,
): Promise<void> {
  if (away.length === 0) return
  const { states, living } = await findWhereabouts(
    db,
    orgId,
    away.map(({ run }) => run),
  )
  for (const { run, output } of away) {
    const id = run.shortcut_run_id
    const error = earlyEnd(states.get(run.run_id), living.has(run.row_id))
    if (error === null) progress.set(id, 'inProgress')
    else ends.push({ id, status: 'error', error, at: new Date(), output })
  }
}

function earlyEnd(state: string | undefined, living: boolean): string | null {
  if (state === 'stopped') return 'The run was stopped before it ended'
  if (!living) return 'The row of this run was deleted before its result was recorded'
  return state === 'running' ? null : 'The row of this run was run again before its result was recorded'
}
