import type { CellStatus } from '#contract/rows.ts'
import type { EndStatus, FieldStatus } from '#contract/shortcuts.ts'
import { pathOf, readOutput } from '../catalog/chain/value-path.ts'
import type { FrozenOutput } from '../database/connection/json-columns.ts'
import { parseLossless } from '../lib/json/lossless-json.ts'
import { readOutputToken } from './schema.ts'
import type { Trace } from './store/shortcut-runs.ts'

type Field = { value: unknown; status: FieldStatus }
export type RunOutput = Record<string, Field>

export const FAILURES: Partial<Record<CellStatus, Exclude<EndStatus, 'completed'>>> = {
  failed: 'failed',
  error: 'error',
  out_of_credits: 'outOfCredits',
}

/** Returns each field of a run with the value of its output and its own status. */
export function buildOutput(outputs: readonly FrozenOutput[], cells: ReadonlyMap<string, Trace>): RunOutput {
  const values = new Map<string, Record<string, unknown>>()
  const readValues = (cell: Trace) => {
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
      const cellOutputs = readValues(cell)
      const { head } = pathOf(token)
      const value = Object.hasOwn(cellOutputs, head) ? readOutput(cellOutputs[head], token) : null
      return [name, { value: value ?? null, status: 'completed' }]
    }),
  )
}

function fieldStatus(status: CellStatus): FieldStatus {
  return FAILURES[status] ?? (status === 'condition_not_met' ? 'conditionNotMet' : 'skipped')
}
