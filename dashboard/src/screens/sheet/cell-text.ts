import type { CellStatus } from '#contract/rows.ts'
import type { Cell } from '../../api/sheet.ts'

export type CellState = CellStatus | 'not_run' | 'stopped'

/** What a cell shows, and what it is called: a status is never told by colour alone. */
export type CellText = { state: CellState; text: string; name: string }

export const STATE_NAMES: Record<CellState, string> = {
  not_run: 'Not run',
  stopped: 'Stopped',
  queued: 'Queued',
  running: 'Running',
  complete: 'Complete',
  failed: 'Failed',
  error: 'Error',
  out_of_credits: 'Out of credits',
  condition_not_met: 'Condition not met',
}

/** Longer outputs are read in the panel. */
const MAX_SHOWN = 300
/** Of an input, which is read in its editor: beyond this no screen shows it, and a browser would still lay it out. */
const MAX_SHOWN_INPUT = 1000

/** Returns the text of a cell; `isStopped` says that the row was stopped before or at this cell. */
export function cellText(cell: Cell | undefined, outputs: readonly string[], isStopped = false): CellText {
  if (cell === undefined && isStopped)
    return { state: 'stopped', text: STATE_NAMES.stopped, name: STATE_NAMES.stopped }
  if (cell === undefined) return { state: 'not_run', text: '', name: STATE_NAMES.not_run }
  const state = cell.status
  switch (state) {
    case 'complete': {
      const text = answerText(cell, outputs)
      return {
        state,
        text: text === '' ? 'no answer' : text,
        name: `Complete: ${text === '' ? 'no answer' : text}`,
      }
    }
    case 'failed':
    case 'error': {
      const text = cell.error ?? ''
      return { state, text, name: text === '' ? STATE_NAMES[state] : `${STATE_NAMES[state]}: ${text}` }
    }
    case 'queued':
    case 'running':
    case 'out_of_credits':
    case 'condition_not_met':
      return { state, text: STATE_NAMES[state], name: STATE_NAMES[state] }
  }
}

/** The first output that says something, in the order in which the action declares them; more than yes or no where there is any. */
function answerText(cell: Cell, order: readonly string[]): string {
  if (cell.outputs_ref !== undefined) return `${Math.ceil(cell.outputs_ref.size_bytes / 1024)} KB of outputs`
  const outputs = cell.outputs ?? {}
  const names = [...order, ...Object.keys(outputs)]
  const said = names.map((name) => outputs[name]).filter((value) => !isBlank(value))
  return shorten(valueText(said.find((value) => typeof value !== 'boolean') ?? said[0]), MAX_SHOWN)
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

/** A value as one reads it in a table: text as it is, structures as JSON. */
export function valueText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** As the grid shows an input. */
export function shownText(value: unknown): string {
  return shorten(valueText(value), MAX_SHOWN_INPUT)
}

function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text
}
