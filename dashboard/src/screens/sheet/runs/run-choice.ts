import { type SheetBody, type SheetId, sheetCall } from '../../../api/calls.ts'
import type { Sort } from '../../../api/selection.ts'
import { isFiltered, matchingBody, type Selection, selectionBody } from '../../../api/sheet.ts'

/**
 * A choice of rows to run, for all actions or for a single column: `needed` are its cells that are empty or failed. Rows with a
 * failure go on at the failed cell, unless `isFromStart` is set.
 */
export type RunChoice =
  | { kind: 'first' | 'filtered' | 'all' }
  | { kind: 'failed' | 'unfinished'; isFromStart?: boolean }
  | { kind: 'rows'; ids: readonly string[] }
  | { kind: 'matching'; excluded: readonly string[] }
  | { kind: 'column'; action: string }
  | { kind: 'needed'; action: string }
  | { kind: 'cell'; action: string; rowId: string }

/** Returns the call that runs the choice, and the call that estimates its cost. `options`: the credit limit of the run, and the order in which rows start. */
export function buildRunCalls(
  sheet: SheetId,
  choice: RunChoice,
  selection: Selection,
  { sort = [], ...limit }: { max_credits?: number; sort?: Sort } = {},
) {
  const order = sort.length === 0 ? {} : { sort }
  const estimate = (body: SheetBody<'POST /estimate'>) => sheetCall(sheet, 'POST /estimate', { body })
  const run = (rows: SheetBody<'POST /run'>) => ({
    run: sheetCall(sheet, 'POST /run', { body: { ...rows, ...order, ...limit } }),
    estimate: estimate(rows),
  })
  const runAll = (rows: { only?: 'failed' | 'unfinished'; from?: 'failure' }) => ({
    run: sheetCall(sheet, 'POST /run-all', { body: { ...rows, ...limit } }),
    estimate: estimate(rows.only === undefined ? { all: true } : rows),
  })
  const runEvery = () => (sort.length === 0 ? runAll({}) : run({ all: true }))
  const runAction = (
    action: string,
    rows: RowsOfAction,
    estimated: RowsOfAction & { all?: true } = rows,
  ) => ({
    run: sheetCall(sheet, 'POST /actions/:action_instance_id/run', {
      params: { action_instance_id: action },
      body: { ...rows, ...order, ...limit },
    }),
    estimate: estimate({ ...estimated, action_instance_id: action }),
  })
  switch (choice.kind) {
    case 'first':
      return run({ first_10: true })
    case 'rows':
      return run({ row_ids: choice.ids })
    case 'matching':
      return run(matchingBody(selection, choice.excluded))
    case 'filtered':
      return isFiltered(selection) ? run(selectionBody(selection)) : runEvery()
    case 'failed':
    case 'unfinished':
      return runAll({ only: choice.kind, ...(choice.isFromStart === true ? {} : { from: 'failure' }) })
    case 'all':
      return runEvery()
    case 'column': {
      const rows = selectionBody(selection)
      return runAction(choice.action, rows, isFiltered(selection) ? rows : { all: true })
    }
    case 'needed': {
      const rows = { ...selectionBody(selection), only: 'empty_and_failed' as const }
      return runAction(choice.action, rows)
    }
    case 'cell':
      return runAction(choice.action, { row_ids: [choice.rowId] })
  }
}

type RowsOfAction = ReturnType<typeof selectionBody> & {
  row_ids?: readonly string[]
  only?: 'empty_and_failed'
}
