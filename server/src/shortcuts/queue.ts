import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import { type Db, inTransaction } from '../database/connection/db.ts'
import type { FrozenInput } from '../database/connection/json-columns.ts'
import { notFound, validationError } from '../lib/errors.ts'
import { isObject } from '../lib/json/object.ts'
import { toCap } from '../money/caps.ts'
import { type Actor, recordAudit } from '../organisation/store/audit.ts'
import { arriveRows } from '../runs/arrivals.ts'
import { parseRows } from '../sheets/rows/intake.ts'
import type { NameRow } from '../sheets/rows/value-warnings.ts'
import { findSheet } from '../sheets/store/sheets.ts'
import { insertShortcutRuns, type MadeRun } from './store/shortcut-runs.ts'
import type { ShortcutRecord } from './store/shortcuts.ts'

export type QueuedRuns = { runId: string; runs: MadeRun[]; warnings: Warning[] }

type GivenRows = {
  given: readonly unknown[]
  batchId: string | null
  nameRow: NameRow
  maxCredits?: number | undefined
}

/**
 * Adds rows to the workflow and queues them on the version of the shortcut, in one transaction. If any row is
 * invalid, nothing is queued.
 */
export async function queueShortcutRuns(
  db: Db,
  actor: Actor,
  shortcut: ShortcutRecord,
  { given, ...options }: GivenRows,
): Promise<QueuedRuns> {
  const { org_id, workflow_id, shortcut_id, version, revision, continue_on_fail } = shortcut
  const { rows, data, warnings } = await readShortcutRows(shortcut, given, options.nameRow)
  return inTransaction(db, async (trx) => {
    const sheet = await findSheet(trx, org_id, workflow_id)
    if (sheet === undefined) throw notFound('Shortcut')
    const pinned = { revision, continue_on_fail }
    const { rowIds, runId } = await arriveRows(trx, {
      sheet,
      data,
      actor,
      trigger: 'shortcut',
      run: 'all',
      pinned,
      ...toCap(options.maxCredits),
    })
    if (runId === null) throw new Error(`version ${version} of shortcut ${shortcut_id} has nothing to run`)
    const runs = await insertShortcutRuns(trx, {
      org_id,
      shortcut_id,
      version,
      batch_id: options.batchId,
      run_id: runId,
      user_email: actor.email,
      rows: rowIds.map((row_id, at) => ({ row_id, input: rows[at] })),
    })
    await recordAudit(trx, org_id, actor, {
      action: 'shortcut.run',
      target: shortcut_id,
      details: { runs: runs.length, ...(options.batchId === null ? {} : { batch_id: options.batchId }) },
    })
    return { runId, runs, warnings }
  })
}

/** Returns the rows with defaults filled in, and in their stored form. Throws 400 if any is invalid. */
export async function readShortcutRows(
  { inputs }: Pick<ShortcutRecord, 'inputs'>,
  given: readonly unknown[],
  nameRow: NameRow,
): Promise<{ rows: unknown[]; data: string[]; warnings: Warning[] }> {
  const missing = given.flatMap((row, place) => findMissingFields(row, inputs, nameRow(place)))
  const rows = given.map((row) => fillDefaults(row, inputs))
  return { rows, ...(await parseInput(inputs, rows, nameRow, missing)) }
}

/** Returns an error for each required field without a default that the row does not have (D94). */
function findMissingFields(row: unknown, inputs: readonly FrozenInput[], name: string): FieldError[] {
  if (!isObject(row)) return []
  return inputs
    .filter(({ required, defaultValue }) => required === true && (defaultValue ?? '') === '')
    .filter(({ reference }) => !Object.hasOwn(row, reference) || isBlank(row[reference]))
    .map(({ reference }) => ({ field: `${name}.${reference}`, message: 'required' }))
}

const isBlank = (value: unknown) => value === null || value === undefined || value === ''

/**
 * Fills missing fields with the default, or else with an empty text. Unknown fields stay, to be refused
 * later.
 */
function fillDefaults(row: unknown, inputs: readonly FrozenInput[]): unknown {
  if (!isObject(row)) return row
  const fields = new Map(
    inputs.map(({ reference, defaultValue }): [string, unknown] => [reference, defaultValue ?? '']),
  )
  for (const [key, value] of Object.entries(row)) {
    if (value !== null || !fields.has(key)) fields.set(key, value)
  }
  return Object.fromEntries(fields)
}

/** Returns the rows in their stored form, by the columns of the shortcut's version. */
async function parseInput(
  inputs: readonly FrozenInput[],
  rows: readonly unknown[],
  nameRow: NameRow,
  missing: readonly FieldError[],
): Promise<{ data: string[]; warnings: Warning[] }> {
  const columns = inputs.map(({ column, reference, type }) => ({
    column,
    name: reference,
    type,
    description: '',
  }))
  const { accepted, rejected, warnings } = await parseRows(columns, rows, { nameRow })
  if (rejected.length > 0 || missing.length > 0) {
    const valid = inputs.map(({ reference }) => reference).join(', ') || 'none, the shortcut takes no input'
    const errors = rejected.flatMap(({ index, errors }) =>
      errors.map(({ field, code, message }): FieldError =>
        code === 'unknown_field'
          ? {
              field: `${nameRow(index)}.${field}`,
              message: `not an input of this shortcut; valid references: ${valid}`,
            }
          : { field: nameRow(index), message: message.replace('input name', 'reference') },
      ),
    )
    throw validationError([...missing, ...errors])
  }
  return {
    data: accepted.map((row) => row.data),
    // Equal rows need no warning here: each is its own run.
    warnings: warnings.filter(({ code }) => code !== 'duplicate_row'),
  }
}
