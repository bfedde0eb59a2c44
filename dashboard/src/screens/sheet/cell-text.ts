import type { z } from 'zod'
import { describeFailure } from '#contract/failure-words.ts'
import type { Cell as CellSchema, CellStatus } from '#contract/rows.ts'
import { printValue } from '../../ui/value-text.ts'
import { readNested } from './nested-value.ts'

type Cell = z.infer<typeof CellSchema>

export type CellState = CellStatus | 'not_run' | 'stopped'

/** The text that a cell shows and its accessible name. A status is never shown by colour alone. */
export type CellText = { state: CellState; text: string; name: string }

/** The text of a complete cell whose outputs are all empty. */
export const NO_RESULT = 'No result'

export const STATE_NAMES: Record<CellState, string> = {
  not_run: 'Not run',
  stopped: 'Stopped',
  queued: 'Queued',
  running: 'Running',
  complete: 'Complete',
  failed: 'Failed',
  error: 'Error',
  out_of_credits: 'Out of credits',
  condition_not_met: 'Skipped',
}

/** The output of an HTTP call that says only that it succeeded. */
const STATUS_CODE = 'status_code'

/** The maximum length of an output in the grid. The panel shows longer ones in full. */
const MAX_SHOWN = 300
/** The maximum length of an input in the grid. No screen is wider, but the browser would still lay out a longer text. */
const MAX_SHOWN_INPUT = 1000

/** The outputs of an action in the order that it declares, and the one that its column shows if that was chosen. */
export type ShownOutputs = { outputs: readonly string[]; shown?: string | undefined }

/** Returns the text of a cell. `isStopped` is true if the row was stopped before or at this cell. */
export function cellText(cell: Cell | undefined, shown: ShownOutputs, isStopped = false): CellText {
  if (cell === undefined && isStopped)
    return { state: 'stopped', text: STATE_NAMES.stopped, name: STATE_NAMES.stopped }
  if (cell === undefined) return { state: 'not_run', text: '', name: STATE_NAMES.not_run }
  const state = cell.status
  switch (state) {
    case 'complete': {
      const text = shorten(printAnswer(cell, shown), MAX_SHOWN)
      return text === ''
        ? { state, text: NO_RESULT, name: NO_RESULT }
        : { state, text, name: `Complete: ${text}` }
    }
    case 'failed':
    case 'error': {
      const error = cell.error ?? ''
      if (error === '') return { state, text: STATE_NAMES[state], name: STATE_NAMES[state] }
      const { words } = describeFailure(state, error)
      return { state, text: words, name: `${STATE_NAMES[state]}: ${words}` }
    }
    case 'queued':
    case 'running':
    case 'out_of_credits':
    case 'condition_not_met':
      return { state, text: STATE_NAMES[state], name: STATE_NAMES[state] }
  }
}

/**
 * Returns the chosen output, or else the first one that is not blank, whole, in the order that the action declares. A boolean is
 * used only if there is no other, and so is the status of a response; a list or an object only if there is no text or number.
 */
export function answerText(cell: Cell, shown: ShownOutputs): string {
  return describeLarge(cell) ?? valueText(findAnswer(cell, shown))
}

/** Returns the same answer as the grid shows it: a list or an object without its JSON. */
function printAnswer(cell: Cell, shown: ShownOutputs): string {
  return describeLarge(cell) ?? printValue(readNested(findAnswer(cell, shown)))
}

const describeLarge = ({ outputs_ref }: Cell): string | undefined =>
  outputs_ref === undefined ? undefined : `${Math.ceil(outputs_ref.size_bytes / 1024)} KB of outputs`

function findAnswer(cell: Cell, { outputs: order, shown }: ShownOutputs): unknown {
  const outputs = cell.outputs ?? {}
  if (shown !== undefined) return outputs[shown]
  const names = [...order, ...Object.keys(outputs)]
  const filled = names.filter((name) => !isBlank(outputs[name]))
  const telling = filled.filter((name) => name !== STATUS_CODE && typeof outputs[name] !== 'boolean')
  const plain = telling.find((name) => typeof outputs[name] !== 'object')
  return outputs[plain ?? telling[0] ?? filled[0] ?? '']
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

/** Returns a value as text for a table: text unchanged, structures as JSON. */
export function valueText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Returns the text of an input as the grid shows it. */
export function shownText(value: unknown): string {
  return shorten(valueText(value), MAX_SHOWN_INPUT)
}

function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text
}
