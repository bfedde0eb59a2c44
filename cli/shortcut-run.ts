import { z } from 'zod'
import { MAX_SHORTCUT_ROWS, type ShortcutRun } from '#contract/shortcuts.ts'
import type { Db } from '#server/database/connection/db.ts'
import { AppError, forbidden, invalid, notFound } from '#server/lib/errors.ts'
import { newId } from '#server/lib/ids.ts'
import { readUntil } from '#server/lib/timing/read-until.ts'
import { findMember } from '#server/organisation/store/members.ts'
import { hasWorker } from '#server/runs/store/workers.ts'
import { nameInRows } from '#server/sheets/rows/value-warnings.ts'
import { queueShortcutRuns } from '#server/shortcuts/queue.ts'
import { readShortcutRuns, recordFinishedRuns } from '#server/shortcuts/run-status.ts'
import { countOpenRuns, listRunsByIds } from '#server/shortcuts/store/shortcut-runs.ts'
import type { ShortcutFor } from '#server/shortcuts/store/shortcuts.ts'
import { EXIT } from './failure.ts'
import { Duration, KnownEmail } from './flags.ts'
import { readJsonRows } from './json-file.ts'
import { type CommandOutput, formatTable } from './output.ts'
import { requireShortcut, ShortcutId, stateOf } from './shortcut-session.ts'

export const RunFlags = z
  .strictObject({
    id: ShortcutId,
    input: z.array(z.string()).exactOptional(),
    rows: z.string().exactOptional(),
    email: KnownEmail.exactOptional(),
    timeout: Duration,
    wait: z.boolean(),
  })
  .refine(({ input, rows }) => input === undefined || rows === undefined, {
    path: ['rows'],
    error: 'cannot be combined with --input',
  })

type Given = { rows: unknown[]; batch: boolean }

/** Queues runs as the API does and, by default, waits until they have ended. */
export async function runShortcut(
  db: Db,
  flags: z.infer<typeof RunFlags>,
  report: (line: string) => void,
): Promise<CommandOutput> {
  const shortcut = await requireRunnable(db, flags.id)
  const { rows, batch } = readRows(flags)
  if (flags.wait && !(await hasWorker(db))) {
    throw new AppError('Service Unavailable', 'No worker is running: start `loam serve`, or pass --no-wait')
  }
  if (flags.email !== undefined && (await findMember(db, shortcut.org_id, flags.email)) === undefined) {
    throw notFound(`Member ${flags.email}`)
  }
  const actor = { email: flags.email ?? shortcut.creator_email, keyId: null }
  const { runId, runs, warnings } = await queueShortcutRuns(db, actor, shortcut, {
    given: rows,
    batchId: batch ? newId() : null,
    nameRow: (place) => (batch ? nameInRows(place) : 'input'),
  })
  for (const { field, message } of warnings) report(`Warning: ${field}: ${message}`)
  if (flags.wait) {
    await waitForRuns(
      db,
      { orgId: shortcut.org_id, runId },
      { ms: flags.timeout, total: runs.length, report },
    )
  }
  const ids = runs.map((run) => run.shortcut_run_id)
  const ended = await readShortcutRuns(db, shortcut.org_id, await listRunsByIds(db, shortcut.org_id, ids))
  const failed = flags.wait && ended.some((run) => run.status !== 'completed')
  return {
    ...(failed ? { exit: EXIT.failed } : {}),
    data: batch ? ended : ended[0],
    text: () => formatRuns(ended),
  }
}

async function requireRunnable(db: Db, id: string): Promise<ShortcutFor> {
  const shortcut = await requireShortcut(db, id)
  const state = stateOf(shortcut)
  if (state !== 'published') throw forbidden(`The shortcut is ${state} and cannot be run`)
  return shortcut
}

/**
 * Reads the rows: `--rows` is a batch; `--input` is one run, with `key=value` for each field or a file with
 * an object.
 */
function readRows({ input = [], rows }: { input?: string[]; rows?: string }): Given {
  if (rows !== undefined) {
    const read = readJsonRows(rows, 'rows')
    if (!Array.isArray(read) || read.length === 0 || read.length > MAX_SHORTCUT_ROWS) {
      throw invalid('rows', `must hold an array of 1 to ${MAX_SHORTCUT_ROWS} objects`)
    }
    return { rows: read, batch: true }
  }
  const [first] = input
  if (input.length === 1 && first !== undefined && !first.includes('=')) {
    return { rows: [readJsonRows(first, 'input')], batch: false }
  }
  const fields = input.map((text): [string, string] => {
    const at = text.indexOf('=')
    if (at <= 0) throw invalid('input', `${text} must have the form key=value`)
    return [text.slice(0, at), text.slice(at + 1)]
  })
  return { rows: [Object.fromEntries(fields)], batch: false }
}

async function waitForRuns(
  db: Db,
  run: { orgId: string; runId: string },
  { ms, total, report }: { ms: number; total: number; report: (line: string) => void },
): Promise<void> {
  let reported = -1
  const read = async () => {
    await recordFinishedRuns(db, run)
    const done = total - (await countOpenRuns(db, run.orgId, run.runId))
    if (done !== reported) report(`${done} of ${total} done`)
    reported = done
    return done
  }
  await readUntil(read, (done) => done === total, { ms })
}

function formatRuns(runs: ShortcutRun[]): string {
  return formatTable(
    ['RUN', 'STATUS', 'OUTPUT'],
    runs.map((run) => [run.id, run.status, run.error_message ?? JSON.stringify(run.output_data)]),
    'No runs.',
  )
}
